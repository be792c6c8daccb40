/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes of a node exchange their places by MPI, once for each communicator: the result
 * stays with the communicator as an attribute, and levels below are worked out from it. */
#include "topology/exchange.h"

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "formation/failure_scope.h"
#include "machine/machine_process.h"
#include "progress/comm_error.h"
#include "progress/mpi_error.h"

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
  RGI_TRY(rgi_comm_error_share(comm, call, error));
  MPI_Comm_rank(comm, &mine.rank);
  RGI_TRY_MPI(MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, (*places)->at, (int)sizeof mine,
                            MPI_BYTE, node));
  if (!rgi_places_reconcile(*places) && (*places)->me == 0)
    rgi_log(RGI_LOG_WARN, "%s: processes of this node see different machines: it is not divided",
            call);
  return RG_SUCCESS;
}

int rgi_exchange_places(const char *call, MPI_Comm comm, const rgi_places **places) {
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
