/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "intercomm/record.h"

#include <stdlib.h>

#include "base/error.h"
#include "progress/mpi_error.h"

static int record_key = MPI_KEYVAL_INVALID, role_key = MPI_KEYVAL_INVALID;

/* Their addresses are the two values of the flag: responder, initiator. */
static char roles[2];

/* Processes that were started apart are to be independent of one another afterwards;
 * Open MPI hangs when a second communicator between them is disconnected. */
static void give_up(MPI_Comm *comm, MPI_Comm world, int disconnect) {
  if (*comm == MPI_COMM_NULL || *comm == world)
    return;
  if (disconnect)
    MPI_Comm_disconnect(comm);
  else
    MPI_Comm_free(comm);
}

void rgi_view_free(rg_inter_view *v, int disconnect) {
  give_up(&v->global, v->world, 0);
  give_up(&v->local, v->world, 0);
  give_up(&v->benchmark, v->world, disconnect);
}

/* MPI calls this when the attribute is deleted, at the latest first of all in
 * MPI_Finalize. */
static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  rgi_record *r = value;
  (void)comm, (void)keyval, (void)extra;
  rgi_view_free(&r->view, 0);
  rgi_entry_end(&r->entry);
  free(r);
  MPI_Comm_free_keyval(&record_key);
  if (role_key != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&role_key);
  return MPI_SUCCESS;
}

const rgi_record *rgi_record_now(void) {
  rgi_record *r;
  int found = 0;
  if (record_key != MPI_KEYVAL_INVALID)
    MPI_Comm_get_attr(MPI_COMM_SELF, record_key, &r, &found);
  return found ? r : NULL;
}

int rgi_record_keep(const char *call, const rgi_record *r) {
  rgi_record *kept = malloc(sizeof *kept);
  if (!kept)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  *kept = *r;
  int error = rgi_mpi_error(
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &record_key, NULL), call);
  if (!error)
    error = rgi_mpi_error(MPI_Comm_set_attr(MPI_COMM_SELF, record_key, kept), call);
  if (error)
    free(kept);
  return error;
}

int rgi_record_drop(void) {
  rgi_record *r;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_SELF, record_key, &r, &found);
  rgi_entry entry = r->entry;
  r->entry.started = 0;
  rgi_view_free(&r->view, r->view.kind == RG_INTER_SPAWN || r->view.kind == RG_INTER_CONNECT);
  RGI_TRY_MPI(MPI_Comm_delete_attr(MPI_COMM_SELF, record_key));
  return rgi_entry_end(&entry);
}

int rgi_role_set(MPI_Comm inter, int is_initiator) {
  if (role_key == MPI_KEYVAL_INVALID)
    RGI_TRY_MPI(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &role_key, NULL));
  RGI_TRY_MPI(MPI_Comm_set_attr(inter, role_key, &roles[is_initiator != 0]));
  return RG_SUCCESS;
}

int rgi_role_is_initiator(MPI_Comm inter) {
  void *value = NULL;
  int found = 0;
  MPI_Comm_get_attr(inter, role_key, &value, &found);
  return found && value == &roles[1];
}
