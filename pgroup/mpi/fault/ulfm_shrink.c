/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPIX_Comm_shrink and MPIX_Comm_ishrink: of a group of the living members (recovery/
 * group_recovery.c) MPI makes a communicator, and the members agree whether all have it. Of an
 * inter-communicator all of both sides get one first; of it come the two sides, and of them the
 * inter-communicator. */
#include <regroup/comm.h>
#include <regroup/mpi-ext.h>
#include <regroup/recovery.h>

#include "base/error.h"
#include "formation/group.h"
#include "mpi/fault/fault_create.h"
#include "mpi/fault/ulfm_agree.h"
#include "mpi/fault/ulfm_calls.h"
#include "mpi/intercept.h"

#define TAG 29542 /* on a communicator that no other has */

/* The communicator of the survivors' group, which is taken over. */
static int make_comm(rgi_fault_comm *state, rg_group survivors, MPI_Comm *made) {
  int error = rg_group_comm(survivors, made);
  survivors->comm = MPI_COMM_NULL; /* the program's from now on */
  if (!error)
    error = rgi_intercept_inherit_handler(state->comm, *made);
  if (error) {
    rg_group_free(&survivors);
    return error;
  }
  return rgi_fault_comm_attach(*made, survivors);
}

/* --- inter-communicators -------------------------------------------------------------------- */

static int error_of(int code) {
  return code == MPI_SUCCESS            ? RG_SUCCESS
         : code == MPIX_ERR_PROC_FAILED ? RG_ERR_PROC_FAILED
         : code == MPIX_ERR_REVOKED     ? RG_ERR_REVOKED
                                        : RG_ERR_MPI;
}

/* Of all survivors, in the order of the group's ranks: which is on the first one's side; how many
 * are. */
typedef struct {
  int mine, first_count, count;
} side_of;

static int find_sides(rgi_fault_comm *state, MPI_Comm all, side_of *sides) {
  MPI_Group group;
  rgi_members *members;
  PMPI_Comm_group(all, &group);
  int error = rgi_fault_comm_members(group, &members);
  PMPI_Group_free(&group);
  RGI_TRY(error);
  int first = rgi_members_find(state->peers, rgi_members_at(state->group->members, 0)) >= 0;
  *sides = (side_of){.mine = first, .count = rgi_members_count(members)};
  for (int i = 0; i < sides->count; i++)
    sides->first_count +=
        (rgi_members_find(state->peers, rgi_members_at(members, i)) >= 0) == first;
  rgi_members_drop(members);
  return RG_SUCCESS;
}

/* Where one side has died there is none. */
static int make_inter(rgi_fault_comm *state, MPI_Comm all, MPI_Comm *made) {
  MPI_Comm side = MPI_COMM_NULL;
  side_of sides;
  RGI_TRY(find_sides(state, all, &sides));
  if (sides.first_count == 0 || sides.first_count == sides.count)
    return rgi_error(RG_ERR_PROC_FAILED, "MPIX_Comm_shrink: all processes of one side have died");
  PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  int code = MPI_Comm_split(all, sides.mine, 0, &side);
  if (!code)
    code = MPI_Intercomm_create(side, 0, all, sides.mine ? 0 : sides.first_count, TAG, made);
  if (side != MPI_COMM_NULL)
    MPI_Comm_free(&side);
  if (code)
    return error_of(code);
  return rgi_intercept_inherit_handler(state->comm, *made);
}

/* --- both ----------------------------------------------------------------------------------- */

static int make_any(rgi_fault_comm *state, rg_group survivors, MPI_Comm *made) {
  MPI_Comm all = MPI_COMM_NULL;
  if (!state->is_inter)
    return make_comm(state, survivors, made);
  RGI_TRY(make_comm(state, survivors, &all));
  int error = make_inter(state, all, made);
  MPI_Comm_free(&all);
  return error;
}

/* All survivors get the communicator, or none does, and they try again, since more have died. Not
 * where one lacks memory. */
enum { ATTEMPTS = 100 };

/* Bits of a member's vote. */
enum { WELL = 1, HAS_MEMORY = 2, HAS_COMM = 4 };

static unsigned vote_of(int error, MPI_Comm made) {
  return (error ? 0 : WELL) | (error == RG_ERR_NOMEM ? 0 : HAS_MEMORY) |
         (made == MPI_COMM_NULL ? 0 : HAS_COMM);
}

static int shrink(rgi_fault_comm *state, MPI_Comm *made) {
  int error = RG_SUCCESS;
  rgi_fault_create_abandon(state);
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    rg_group survivors;
    unsigned word;
    RGI_TRY(rg_group_shrink(state->group, &survivors));
    *made = MPI_COMM_NULL;
    error = make_any(state, survivors, made);
    word = vote_of(error, *made);
    RGI_TRY(rg_group_agree(state->group, &word, NULL));
    if (word & WELL)
      return RG_SUCCESS;
    if (word == HAS_COMM)
      PMPI_Comm_free(made); /* one with a dead member is kept */
    if (!(word & HAS_MEMORY))
      break;
  }
  return error ? error : rgi_error(RG_ERR_NOMEM, "MPIX_Comm_shrink: not all can make it");
}

RG_API int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  RGI_ULFM_STATE(state, comm);
  int error = shrink(state, &made);
  if (!error)
    *newcomm = made;
  return rgi_ulfm_raise(state, error);
}

/* A handle of MPICH's is an int. */
static int shrink_to(rgi_fault_comm *state, int *newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  int error = shrink(state, &made);
  *newcomm = error ? MPI_COMM_NULL : made;
  return error;
}

/* The members agree that all have called it; the rest they do when they wait for it. */
RG_API int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) {
  RGI_ULFM_STATE(state, comm);
  return rgi_ulfm_agree_start(state, __func__, newcomm, shrink_to, request);
}
