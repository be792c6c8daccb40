/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The attribute goes along when MPI duplicates the communicator (the places are shared and counted)
 * and is freed with it. An attribute on MPI_COMM_SELF, which MPI deletes first in MPI_Finalize,
 * frees the key and what is known about the machine. */
#include "topology/topo_attr.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/spare.h"
#include "formation/failure_scope.h"
#include "machine/machine.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

static struct {
  pthread_mutex_t lock;
  int keyval;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)extra;
  rgi_topo_attr *attr = value;
  rgi_places_release(attr->places);
  rgi_spare_free(attr);
  return MPI_SUCCESS;
}

/* A duplicate has the same processes. */
static int on_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag) {
  (void)comm, (void)keyval, (void)extra;
  rgi_topo_attr *attr = rgi_spare_alloc(sizeof *attr);
  *flag = attr != NULL;
  if (!attr)
    return MPI_ERR_NO_MEM;
  *attr = *(rgi_topo_attr *)value;
  rgi_places_retain(attr->places);
  *(void **)copy = attr;
  return MPI_SUCCESS;
}

static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  MPI_Comm_free_keyval(&state.keyval);
  rgi_machine_forget();
  return MPI_SUCCESS;
}

static int prepare_keyval_locked(void) {
  int at_finalize;
  if (state.keyval != MPI_KEYVAL_INVALID)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &at_finalize, NULL));
  RGI_TRY_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, at_finalize, &state));
  MPI_Comm_free_keyval(&at_finalize); /* MPI keeps it until the attribute is deleted */
  RGI_TRY_MPI(MPI_Comm_create_keyval(on_copy, on_delete, &state.keyval, NULL));
  return RG_SUCCESS;
}

static int prepare_keyval(void) {
  pthread_mutex_lock(&state.lock);
  int error = prepare_keyval_locked();
  pthread_mutex_unlock(&state.lock);
  return error;
}

int rgi_topo_attr_get(MPI_Comm comm, rgi_topo_attr **attr) {
  int found = 0;
  RGI_TRY(prepare_keyval());
  RGI_TRY_MPI(MPI_Comm_get_attr(comm, state.keyval, attr, &found));
  if (!found)
    *attr = NULL;
  return RG_SUCCESS;
}

int rgi_topo_attr_set(const char *call, MPI_Comm comm, rgi_places *places, rgi_topo_attr **attr) {
  rgi_topo_attr *fresh = places ? rgi_spare_alloc_zeroed(1, sizeof *fresh) : NULL;
  int error = fresh ? prepare_keyval() : rgi_error(RG_ERR_NOMEM, "%s: no memory for places", call);
  if (!error) {
    fresh->places = places;
    error = rgi_mpi_error(MPI_Comm_set_attr(comm, state.keyval, fresh), "MPI_Comm_set_attr");
  }
  if (error) {
    rgi_places_release(places);
    rgi_spare_free(fresh);
    return error;
  }
  *attr = fresh;
  return RG_SUCCESS;
}

int rgi_topo_attr_check_comm(const char *call, MPI_Comm comm) {
  int inter = 0;
  RGI_TRY(rgi_runtime_check_mpi(call));
  if (comm == MPI_COMM_NULL)
    return rgi_error(RG_ERR_COMM, "%s: the communicator is MPI_COMM_NULL", call);
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    return rgi_error(RG_ERR_COMM, "%s: an inter-communicator; pass an intra-communicator", call);
  return RG_SUCCESS;
}

/* --- the exchange ------------------------------------------------------------------------ */

/* The processes of a node exchange their places by MPI, once for each communicator: the result
 * stays with the communicator as an attribute, and levels below are worked out from it. */

static int make_room(const char *call, MPI_Comm comm, MPI_Comm node, rgi_places **places) {
  int size, rows, me;
  MPI_Comm_size(comm, &size);
  MPI_Comm_size(node, &rows);
  MPI_Comm_rank(node, &me);
  *places = rgi_places_new(size, rows);
  if (!*places)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for the places of %d processes", call, rows);
  (*places)->me = me;
  return RG_SUCCESS;
}

/* A process that fails does so before the exchange, and all know it then. */
static int exchange_on_node(const char *call, MPI_Comm comm, MPI_Comm node, rgi_places **places) {
  rgi_machine_place mine = {.length = 0};
  *places = NULL;
  int error = rgi_machine_my_place(call, &mine);
  if (!error)
    error = make_room(call, comm, node, places);
  RGI_TRY(rgi_mpi_error_share(comm, call, error));
  MPI_Comm_rank(comm, &mine.rank);
  RGI_TRY_MPI(MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, (*places)->at, (int)sizeof mine,
                            MPI_BYTE, node));
  if (!rgi_places_reconcile(*places) && (*places)->me == 0)
    rgi_log(RGI_LOG_WARN, "%s: processes of this node see different machines: it is not divided",
            call);
  return RG_SUCCESS;
}

int rgi_topo_attr_exchange(const char *call, MPI_Comm comm, const rgi_places **places) {
  rgi_topo_attr *attr;
  rgi_places *fresh = NULL;
  MPI_Comm node;
  RGI_TRY(rgi_options_ready());
  RGI_TRY(rgi_topo_attr_get(comm, &attr));
  if (!attr) {
    RGI_TRY(rgi_failure_scope_meet(call, comm));
    RGI_TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    int error = exchange_on_node(call, comm, node, &fresh);
    MPI_Comm_free(&node);
    if (error) {
      rgi_places_release(fresh);
      return error;
    }
    RGI_TRY(rgi_topo_attr_set(call, comm, fresh, &attr));
  }
  *places = attr->places;
  return RG_SUCCESS;
}
