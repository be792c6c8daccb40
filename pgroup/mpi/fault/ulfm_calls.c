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
#include "mpi/fault/fault_spawn.h"
#include "mpi/fault/fault_world.h"
#include "mpi/fault/ulfm_calls.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "noded/client/overlay_client.h"

static int fault_tolerant = 1; /* the attribute's value */

/* --- errors ----------------------------------------------------------------------------------- */

int rgi_ulfm_refuse(const char *call, MPI_Comm comm) {
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

int rgi_ulfm_raise(rgi_fault_comm *state, int error) {
  return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, state->comm, error) : MPI_SUCCESS;
}

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

static int is_world(MPI_Comm comm) {
  return rgi_fault_comm_on && comm == rgi_fault_world_now();
}

RG_API int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag) {
  int *own = key == MPIX_FT ? &fault_tolerant : rgi_fault_spawn_attribute(key);
  if (!own)
    return RGI_INTERCEPT_NEXT(MPI_Comm_get_attr)(comm, key, value, flag);
  *flag = is_world(comm);
  if (*flag)
    *(int **)value = own;
  return MPI_SUCCESS;
}

/* MPICH's function for Fortran, which takes the value itself as an integer of an address's size. */
int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int kind);

RG_API int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int kind) {
  if (key != MPIX_FT)
    return RGI_INTERCEPT_NEXT(MPII_Comm_get_attr)(comm, key, value, flag, kind);
  *flag = is_world(comm);
  if (*flag)
    *(MPI_Aint *)value = fault_tolerant;
  return MPI_SUCCESS;
}

/* --- revocation and failures ------------------------------------------------------------------ */

RG_API int MPIX_Comm_revoke(MPI_Comm comm) {
  RGI_ULFM_STATE(state, comm);
  int error = rg_group_revoke(state->group);
  if (error == RG_ERR_LIMIT) /* for as long as the number is among the last ones */
    rgi_overlay_revoke(state->group->context);
  atomic_store(&state->revoked, 1);
  return rgi_ulfm_raise(state, error == RG_ERR_LIMIT ? RG_SUCCESS : error);
}

RG_API int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag) {
  RGI_ULFM_STATE(state, comm);
  *flag = rgi_fault_comm_is_revoked(state);
  return MPI_SUCCESS;
}

/* The first n failures as a group of MPI's. */
static int group_of_failures(rgi_fault_comm *state, int n, MPI_Group *failed) {
  MPI_Group all;
  int found, error, *ranks = malloc((size_t)(n + 1) * sizeof *ranks);
  if (!ranks)
    return rgi_ulfm_raise(state, rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", n));
  error = rg_group_failed(state->group, n, ranks, &found);
  if (!error)
    error = rg_group_mpi_group(state->group, &all);
  if (error) {
    free(ranks);
    return rgi_ulfm_raise(state, error);
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
  RGI_ULFM_STATE(state, comm);
  state->acknowledged = count_failures(state);
  return MPI_SUCCESS;
}

RG_API int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *acked) {
  RGI_ULFM_STATE(state, comm);
  return group_of_failures(state, state->acknowledged, acked);
}

RG_API int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed) {
  RGI_ULFM_STATE(state, comm);
  return group_of_failures(state, count_failures(state), failed);
}

RG_API int MPIX_Comm_ack_failed(MPI_Comm comm, int n, int *acknowledged) {
  RGI_ULFM_STATE(state, comm);
  int all = count_failures(state), wanted = n < all ? n : all;
  if (wanted > state->acknowledged)
    state->acknowledged = wanted;
  *acknowledged = state->acknowledged;
  return MPI_SUCCESS;
}
