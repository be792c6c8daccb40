/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Two attributes: the state on MPI_COMM_SELF, the role on the inter-communicator. MPI deletes the
 * attributes of MPI_COMM_SELF at the beginning of MPI_Finalize; a program that does not call
 * rg_inter_end is cleaned up after there. */
#include "intercomm/inter_state.h"

#include "base/error.h"
#include "base/spare.h"
#include "progress/mpi_error.h"

static int state_key = MPI_KEYVAL_INVALID, role_key = MPI_KEYVAL_INVALID;

/* Their addresses are the two values of the role: responder, initiator. */
static char roles[2];

/* Only the inter-communicator is disconnected, by which processes that were started separately
 * become independent: Open MPI hangs at a second one. */
static void free_or_disconnect(MPI_Comm *comm, MPI_Comm world, int disconnect) {
  if (*comm == MPI_COMM_NULL || *comm == world)
    return;
  if (disconnect)
    MPI_Comm_disconnect(comm);
  else
    MPI_Comm_free(comm);
}

void rgi_inter_state_free_view(rg_inter_view *view, int disconnect) {
  free_or_disconnect(&view->global, view->world, 0);
  free_or_disconnect(&view->local, view->world, 0);
  free_or_disconnect(&view->benchmark, view->world, disconnect);
}

/* MPI calls this when the attribute is deleted. */
static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  rgi_inter_state *state = value;
  (void)comm, (void)keyval, (void)extra;
  rgi_inter_state_free_view(&state->view, 0);
  rgi_startup_end(&state->startup);
  rgi_spare_free(state);
  MPI_Comm_free_keyval(&state_key);
  if (role_key != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&role_key);
  return MPI_SUCCESS;
}

const rgi_inter_state *rgi_inter_state_now(void) {
  rgi_inter_state *state;
  int found = 0;
  if (state_key != MPI_KEYVAL_INVALID)
    MPI_Comm_get_attr(MPI_COMM_SELF, state_key, &state, &found);
  return found ? state : NULL;
}

int rgi_inter_state_keep(const char *call, const rgi_inter_state *state) {
  rgi_inter_state *kept = rgi_spare_alloc(sizeof *kept);
  if (!kept)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  *kept = *state;
  int error = rgi_mpi_error(
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &state_key, NULL), call);
  if (!error)
    error = rgi_mpi_error(MPI_Comm_set_attr(MPI_COMM_SELF, state_key, kept), call);
  if (error)
    rgi_spare_free(kept);
  return error;
}

int rgi_inter_state_drop(void) {
  rgi_inter_state *state;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_SELF, state_key, &state, &found);
  rgi_startup startup = state->startup;
  state->startup.started = 0;
  rgi_inter_state_free_view(&state->view, state->view.kind == RG_INTER_SPAWN ||
                                              state->view.kind == RG_INTER_CONNECT);
  RGI_TRY_MPI(MPI_Comm_delete_attr(MPI_COMM_SELF, state_key));
  return rgi_startup_end(&startup);
}

int rgi_inter_state_set_role(MPI_Comm inter, int is_initiator) {
  if (role_key == MPI_KEYVAL_INVALID)
    RGI_TRY_MPI(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &role_key, NULL));
  RGI_TRY_MPI(MPI_Comm_set_attr(inter, role_key, &roles[is_initiator != 0]));
  return RG_SUCCESS;
}

int rgi_inter_state_is_initiator(MPI_Comm inter) {
  void *value = NULL;
  int found = 0;
  MPI_Comm_get_attr(inter, role_key, &value, &found);
  return found && value == &roles[1];
}
