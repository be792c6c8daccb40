/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creating communicators. MPI makes the communicator, in a call that can be interrupted; then the
 * members of the parent agree whether all have it: one that dies afterwards has had it. A member
 * that meets a death or a revocation gets that error, and revokes the creation's number: where
 * other members have the communicator, all calls on it are errors. One that a member has not got is
 * never freed by MPI, which would give its number to another one.
 *
 * The agreement is on a group of its own. It ends without a result when the creation's number or
 * the parent is revoked. A member knows the number before it does anything: one that knows of a
 * failure already revokes it and takes no part; so does one that agrees on the parent after a
 * failure, or shrinks it, instead of creating (rgi_fault_create_abandon). */
#include "mpi/fault/fault_create.h"

#include <regroup/collectives.h>
#include <regroup/recovery.h>

#include "base/error.h"
#include "formation/group.h"
#include "mpi/intercept.h"
#include "noded/client/overlay_client.h"
#include "runtime/runtime.h"
#include "shm/process.h"

int rgi_fault_create_begin(rgi_fault_creation *made, rgi_fault_comm *parent, const char *call) {
  *made = (rgi_fault_creation){.call = call, .parent = parent};
  RGI_TRY(rgi_group_derive(parent->group, &made->votes));
  made->votes->creation_ids[0] = made->number = made->votes->context ^ 1;
  made->votes->creation_ids[1] = parent->group->context;
  made->derivation = rgi_group_derive_begin(parent->group);
  return rgi_fault_comm_check(parent, call);
}

/* Told apart from the other groups that the same call makes by the first member. */
static int attach(rgi_fault_creation *made, MPI_Comm comm) {
  MPI_Group group;
  rgi_members *members;
  rg_group g;
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter)
    return RG_SUCCESS;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for MPI's group", made->call);
  int error = rgi_fault_comm_members(group, &members);
  PMPI_Group_free(&group);
  RGI_TRY(error);
  uint32_t part = 1 + (uint32_t)rgi_members_at(members, 0);
  RGI_TRY(rgi_group_derive_part(made->parent->group, made->derivation, part, members, &g));
  g->creation_ids[0] = made->number;
  g->creation_ids[1] = 0;
  g->diverged = 1;
  PMPI_Comm_set_errhandler(comm, made->guard.handler);
  return rgi_fault_comm_attach(comm, g);
}

int rgi_fault_create_vote(rgi_fault_creation *made, int error) {
  unsigned word = error == RG_SUCCESS;
  int vain = rg_group_agree(made->votes, &word, NULL);
  if (vain) { /* the cause, not the number's revocation */
    int cause = rgi_fault_comm_check(made->parent, made->call);
    return cause ? cause : vain;
  }
  if (error || word)
    return error;
  return rgi_error(RG_ERR_NOMEM, "%s: another process has not made the communicator", made->call);
}

/* code: MPI's. */
static int end_creation(rgi_fault_creation *made, int code, MPI_Comm *comm) {
  int error = rgi_fault_guard_end(&made->guard, code, made->call);
  /* After a death MPI may meet what an earlier creation has left under way: the others wait in MPI,
   * until the number is revoked. */
  if (error == RG_ERR_MPI && rgi_process_deaths() > 0)
    error = rgi_error(RG_ERR_PROC_FAILED, "%s: a message of a failed creation", made->call);
  if (!error && *comm != MPI_COMM_NULL)
    error = attach(made, *comm);
  PMPI_Errhandler_free(&made->guard.handler);
  if (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED)
    error = rgi_fault_create_vote(made, error);
  return error;
}

/* MPI's answer to the program. */
static int answer(rgi_fault_creation *made, int error, int code, MPI_Comm *comm) {
  MPI_Comm parent = made->parent->comm;
  if (error) {
    rgi_overlay_revoke(made->number);
    *comm = MPI_COMM_NULL;
  }
  if (error == RG_ERR_REVOKED && !rgi_fault_comm_is_revoked(made->parent))
    error = rgi_error(RG_ERR_PROC_FAILED, "%s: another process has met a failure", made->call);
  rg_group_free(&made->votes);
  if (error == RG_ERR_MPI) {
    PMPI_Comm_call_errhandler(parent, code);
    return code;
  }
  return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, parent, error) : MPI_SUCCESS;
}

void rgi_fault_create_abandon(rgi_fault_comm *state) {
  rg_group next;
  if ((!rgi_fault_comm_failures(state) && !rgi_fault_comm_is_revoked(state)) ||
      rgi_group_derive(state->group, &next))
    return;
  atomic_fetch_sub(&state->group->derived, 1); /* the number stays the next one's */
  rgi_overlay_revoke(next->context ^ 1);
  rg_group_free(&next);
}

#define CREATE(function, parent_comm, made_comm, ...)                                              \
  rgi_fault_comm *state = rgi_fault_comm_find(parent_comm);                                        \
  rgi_fault_creation made;                                                                         \
  int code = MPI_SUCCESS;                                                                          \
  if (!state || !(made_comm))                                                                      \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  int error = rgi_fault_create_begin(&made, state, #function);                                     \
  if (!error) {                                                                                    \
    rgi_fault_guard_begin(&made.guard, state, made.votes);                                         \
    code = P##function(__VA_ARGS__);                                                               \
    error = end_creation(&made, code, made_comm);                                                  \
  }                                                                                                \
  return answer(&made, error, code, made_comm)

RG_API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm) {
  CREATE(MPI_Comm_dup, comm, newcomm, comm, newcomm);
}

RG_API int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm) {
  CREATE(MPI_Comm_dup_with_info, comm, newcomm, comm, info, newcomm);
}

RG_API int MPI_Comm_split(MPI_Comm comm, int color, int rank_key, MPI_Comm *newcomm) {
  CREATE(MPI_Comm_split, comm, newcomm, comm, color, rank_key, newcomm);
}

RG_API int MPI_Comm_split_type(MPI_Comm comm, int type, int rank_key, MPI_Info info,
                               MPI_Comm *newcomm) {
  CREATE(MPI_Comm_split_type, comm, newcomm, comm, type, rank_key, info, newcomm);
}

RG_API int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm) {
  CREATE(MPI_Comm_create, comm, newcomm, comm, group, newcomm);
}

RG_API int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[], int reorder,
                           MPI_Comm *newcomm) {
  CREATE(MPI_Cart_create, comm, newcomm, comm, n, dims, periods, reorder, newcomm);
}

RG_API int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *newcomm) {
  CREATE(MPI_Cart_sub, comm, newcomm, comm, remain, newcomm);
}

RG_API int MPI_Graph_create(MPI_Comm comm, int n, const int indices[], const int edges[],
                            int reorder, MPI_Comm *newcomm) {
  CREATE(MPI_Graph_create, comm, newcomm, comm, n, indices, edges, reorder, newcomm);
}

RG_API int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                 const int targets[], const int weights[], MPI_Info info,
                                 int reorder, MPI_Comm *newcomm) {
  CREATE(MPI_Dist_graph_create, comm, newcomm, comm, n, sources, degrees, targets, weights, info,
         reorder, newcomm);
}

RG_API int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int n, const int sources[],
                                          const int source_weights[], int m, const int targets[],
                                          const int target_weights[], MPI_Info info, int reorder,
                                          MPI_Comm *newcomm) {
  CREATE(MPI_Dist_graph_create_adjacent, comm, newcomm, comm, n, sources, source_weights, m,
         targets, target_weights, info, reorder, newcomm);
}

RG_API int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *newcomm) {
  CREATE(MPI_Intercomm_merge, comm, newcomm, comm, high, newcomm);
}

/* --- inter-communicators ------------------------------------------------------------------ */

/* Both sides, in an order that they share: the side with the lower first rank first. */
static int join_sides(MPI_Comm comm, rg_group *all) {
  MPI_Group mine, theirs, both;
  int first = 0, at[2];
  if (PMPI_Comm_group(comm, &mine) || PMPI_Comm_remote_group(comm, &theirs))
    return rgi_error(RG_ERR_NOMEM, "MPI_Intercomm_create: no memory for MPI's group");
  PMPI_Group_translate_ranks(mine, 1, &first, rgi_runtime.mpi_group, &at[0]);
  PMPI_Group_translate_ranks(theirs, 1, &first, rgi_runtime.mpi_group, &at[1]);
  int low = at[0] < at[1];
  PMPI_Group_union(low ? mine : theirs, low ? theirs : mine, &both);
  int error = rg_group_from_mpi_group(both, 0, all);
  PMPI_Group_free(&mine);
  PMPI_Group_free(&theirs);
  PMPI_Group_free(&both);
  return error;
}

/* All have it, or those that have it get errors on it. */
static int attach_both(MPI_Comm comm, MPI_Errhandler handler) {
  rg_group all, made;
  PMPI_Comm_set_errhandler(comm, handler);
  RGI_TRY(join_sides(comm, &all));
  int error = rgi_group_derive(all, &made);
  int met = error ? error : rg_barrier(all); /* a fast member may revoke the new one already */
  rg_group_free(&all);
  RGI_TRY(error);
  uint64_t context = made->context;
  error = met;
  if (error)
    rgi_overlay_revoke(context);
  int attached = rgi_fault_comm_attach(comm, made);
  return error ? error : attached;
}

RG_API int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peer_comm, int remote_leader,
                                int tag, MPI_Comm *newcomm) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  rgi_fault_guard guard;
  if (!state)
    return RGI_INTERCEPT_NEXT(MPI_Intercomm_create)(comm, leader, peer_comm, remote_leader, tag,
                                                    newcomm);
  int code = MPI_SUCCESS, error = rgi_fault_comm_check(state, "MPI_Intercomm_create");
  if (!error) {
    rgi_fault_guard_begin(&guard, state, state->group);
    code = PMPI_Intercomm_create(comm, leader, peer_comm, remote_leader, tag, newcomm);
    error = rgi_fault_guard_end(&guard, code, "MPI_Intercomm_create");
    if (!error)
      error = attach_both(*newcomm, guard.handler);
    PMPI_Errhandler_free(&guard.handler);
  }
  if (error == RG_ERR_MPI) {
    PMPI_Comm_call_errhandler(comm, code);
    return code;
  }
  if (error)
    *newcomm = MPI_COMM_NULL;
  return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, comm, error) : MPI_SUCCESS;
}
