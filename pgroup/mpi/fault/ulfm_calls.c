/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The calls of MPI's fault-tolerance extension, by the library's own recovery
 * (recovery/group_recovery.c) of the communicator's group. */
#include <regroup/comm.h>
#include <regroup/mpi-ext.h>
#include <regroup/recovery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "mpi/fault/fault_create.h"
#include "mpi/fault/fault_request.h"
#include "mpi/fault/fault_spawn.h"
#include "mpi/fault/fault_world.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "noded/client/overlay_client.h"
#include "recovery/group_decision.h"
#include "shm/process.h"

static int fault_tolerant = 1; /* the attribute's value */

/* --- errors ----------------------------------------------------------------------------------- */

/* Where there is no state: another communicator's error, or that of a job that tolerates none. */
static int refuse(const char *call, MPI_Comm comm) {
  char text[200];
  MPI_Comm whose = comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm;
  if (comm == MPI_COMM_NULL)
    snprintf(text, sizeof text, "regroup: %s: the communicator is MPI_COMM_NULL", call);
  else if (rgi_fault_comm_on)
    snprintf(text, sizeof text, "regroup: %s: not for communicators that were made in this way",
             call);
  else
    snprintf(text, sizeof text, "regroup: %s: this job tolerates no faults: %s", call,
             rgi_mpich_gives()->can_interrupt ? "start it by regroup-run"
                                              : "calls of this MPI cannot be interrupted");
  return rgi_intercept_raise_code(
      whose, comm == MPI_COMM_NULL ? MPI_ERR_COMM : MPI_ERR_UNSUPPORTED_OPERATION, text);
}

static int raise(rgi_fault_comm *state, int error) {
  return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, state->comm, error) : MPI_SUCCESS;
}

#define STATE(state, comm)                                                                         \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  if (!state)                                                                                      \
  return refuse(__func__, comm)

RG_API int MPI_Error_string(int code, char *text, int *length) {
  const char *found = code == MPIX_ERR_PROC_FAILED ? "MPIX_ERR_PROC_FAILED: a process has failed"
                      : code == MPIX_ERR_PROC_FAILED_PENDING
                          ? "MPIX_ERR_PROC_FAILED_PENDING: a process that may send has failed"
                      : code == MPIX_ERR_REVOKED
                          ? "MPIX_ERR_REVOKED: the communicator has been revoked"
                          : NULL;
  if (!found)
    return RGI_INTERCEPT_NEXT(MPI_Error_string)(code, text, length);
  strcpy(text, found);
  *length = (int)strlen(found);
  return MPI_SUCCESS;
}

RG_API int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag) {
  int *own = key == MPIX_FT ? &fault_tolerant : rgi_fault_spawn_attribute(key);
  if (!own)
    return RGI_INTERCEPT_NEXT(MPI_Comm_get_attr)(comm, key, value, flag);
  *flag = rgi_fault_comm_on && comm == rgi_fault_world_now();
  if (*flag)
    *(int **)value = own;
  return MPI_SUCCESS;
}

/* --- revocation and failures ------------------------------------------------------------------ */

RG_API int MPIX_Comm_revoke(MPI_Comm comm) {
  STATE(state, comm);
  return raise(state, rg_group_revoke(state->group));
}

RG_API int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag) {
  STATE(state, comm);
  *flag = rgi_fault_comm_is_revoked(state);
  return MPI_SUCCESS;
}

/* The first n failures as a group of MPI's. */
static int group_of_failures(rgi_fault_comm *state, int n, MPI_Group *failed) {
  MPI_Group all;
  int found, error, *ranks = malloc((size_t)(n + 1) * sizeof *ranks);
  if (!ranks)
    return raise(state, rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", n));
  error = rg_group_failed(state->group, n, ranks, &found);
  if (!error)
    error = rg_group_mpi_group(state->group, &all);
  if (error) {
    free(ranks);
    return raise(state, error);
  }
  error = PMPI_Group_incl(all, found < n ? found : n, ranks, failed);
  PMPI_Group_free(&all);
  free(ranks);
  return error;
}

static int count_failures(rgi_fault_comm *state) {
  int found = 0;
  rg_group_failed(state->group, 0, NULL, &found);
  return found;
}

RG_API int MPIX_Comm_failure_ack(MPI_Comm comm) {
  STATE(state, comm);
  state->acknowledged = count_failures(state);
  return MPI_SUCCESS;
}

RG_API int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *acked) {
  STATE(state, comm);
  return group_of_failures(state, state->acknowledged, acked);
}

RG_API int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed) {
  STATE(state, comm);
  return group_of_failures(state, count_failures(state), failed);
}

RG_API int MPIX_Comm_ack_failed(MPI_Comm comm, int n, int *acknowledged) {
  STATE(state, comm);
  int all = count_failures(state), wanted = n < all ? n : all;
  if (wanted > state->acknowledged)
    state->acknowledged = wanted;
  *acknowledged = state->acknowledged;
  return MPI_SUCCESS;
}

/* --- agreement ---------------------------------------------------------------------------- */

/* Whether the program has acknowledged all that are dead in the decision. Over several nodes that
 * does not list them: then all that this process knows of count, and one that did not vote is known
 * to the member that has voted in its stead. */
static unsigned has_acknowledged(const rgi_fault_comm *state, const rgi_group_decision *decision) {
  int left = 0, noticed = 0;
  if (rgi_members_here(state->group->members) < rgi_members_count(state->group->members))
    return rgi_fault_comm_failures(state) <= state->acknowledged;
  for (int i = 0; i < rgi_members_count(state->group->members); i++)
    left += decision->dead[i];
  for (int i = 0, all = rgi_process_deaths(); i < all && noticed < state->acknowledged; i++) {
    int rank = rgi_members_find(state->group->members, rgi_process_death(i));
    noticed += rank >= 0;
    left -= rank >= 0 && decision->dead[rank];
  }
  return left == 0;
}

/* All learn the same: after a death a second decision tells whether all have acknowledged it. */
static int agree(rgi_fault_comm *state, const char *call, unsigned *word) {
  rgi_group_decision decision;
  unsigned known;
  rgi_fault_create_abandon(state);
  RGI_TRY(rgi_group_check_member(call, state->group));
  RGI_TRY(rgi_group_decision_make(state->group, call, *word, 1, &decision));
  *word = decision.word;
  known = has_acknowledged(state, &decision);
  rgi_spare_free(decision.dead);
  if (!decision.deaths)
    return RG_SUCCESS;
  RGI_TRY(rgi_group_decision_make(state->group, call, known, 1, &decision));
  rgi_spare_free(decision.dead);
  return decision.word & 1
             ? RG_SUCCESS
             : rgi_error(RG_ERR_PROC_FAILED,
                         "%s: not all have acknowledged that a process has died", call);
}

static int agree_on(rgi_fault_comm *state, const char *call, int *flag) {
  unsigned word = (unsigned)*flag;
  int error = agree(state, call, &word);
  if (!error || error == RG_ERR_PROC_FAILED)
    *flag = (int)word;
  return raise(state, error);
}

RG_API int MPIX_Comm_agree(MPI_Comm comm, int *flag) {
  STATE(state, comm);
  return agree_on(state, __func__, flag);
}

/* --- shrinking ---------------------------------------------------------------------------- */

/* The communicator of the survivors' group, which is taken over. */
static int make_comm(rgi_fault_comm *state, rg_group survivors, MPI_Comm *made) {
  MPI_Errhandler handler;
  int error = rg_group_comm(survivors, made);
  survivors->comm = MPI_COMM_NULL; /* the program's from now on */
  if (error) {
    rg_group_free(&survivors);
    return error;
  }
  PMPI_Comm_get_errhandler(state->comm, &handler);
  PMPI_Comm_set_errhandler(*made, handler);
  PMPI_Errhandler_free(&handler);
  return rgi_fault_comm_attach(*made, survivors);
}

/* All survivors get the communicator, or none does, and they try again where more have died. */
enum { ATTEMPTS = 100 };

static int shrink(rgi_fault_comm *state, MPI_Comm *made) {
  int error = RG_SUCCESS;
  rgi_fault_create_abandon(state);
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    rg_group survivors;
    unsigned well;
    RGI_TRY(rg_group_shrink(state->group, &survivors));
    error = make_comm(state, survivors, made);
    well = error == RG_SUCCESS;
    RGI_TRY(rg_group_agree(state->group, &well, NULL));
    if (well)
      return RG_SUCCESS;
  }
  return error ? error : rgi_error(RG_ERR_NOMEM, "MPIX_Comm_shrink: not all can make it");
}

static int shrink_to(rgi_fault_comm *state, const char *call, MPI_Comm *newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  if (state->is_inter)
    return refuse(call, state->comm);
  int error = shrink(state, &made);
  if (!error)
    *newcomm = made;
  return raise(state, error);
}

RG_API int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm) {
  STATE(state, comm);
  return shrink_to(state, __func__, newcomm);
}

/* --- with requests ------------------------------------------------------------------------ */

/* One that is complete. */
static int give_request(int code, MPI_Request *request) {
  int made = rgi_fault_request_stand_in(NULL, request);
  return code ? code : made;
}

RG_API int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request) {
  STATE(state, comm);
  return give_request(agree_on(state, __func__, flag), request);
}

RG_API int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) {
  STATE(state, comm);
  return give_request(shrink_to(state, __func__, newcomm), request);
}
