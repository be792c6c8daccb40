/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creating communicators. MPI makes the communicator, in a call that can be interrupted; then all
 * members of the parent say in an allreduce that they have it. A member that meets a death or a
 * revocation gets that error, and revokes the creation's number: where other members have the
 * communicator, all calls on it are errors. One that a member has not got is never freed by MPI,
 * which would give its number to another one.
 *
 * The allreduce is on a group of its own, whose context is that number. It ends when the parent is
 * revoked. A member knows the number before it does anything, so that it need not take part where
 * it knows of a failure already. */
#include <regroup/collectives.h>

#include "base/error.h"
#include "formation/group.h"
#include "mpi/fault/fault_comm.h"
#include "mpi/fault/fault_guard.h"
#include "mpi/intercept.h"
#include "noded/client/overlay_client.h"

typedef struct {
  const char *call;
  rgi_fault_comm *parent;
  rg_group votes;      /* of the parent's members */
  uint64_t derivation; /* of the new communicators' groups */
  rgi_fault_guard guard;
} creation;

/* Local: all members do so in the same order. */
static int begin_creation(creation *made, rgi_fault_comm *parent, const char *call) {
  *made = (creation){.call = call, .parent = parent};
  RGI_TRY(rgi_group_derive(parent->group, &made->votes));
  made->votes->creation_ids[1] = parent->group->context;
  made->derivation = rgi_group_derive_begin(parent->group);
  return rgi_fault_comm_check(parent, call);
}

/* Told apart from the other groups that the same call makes by the first member. */
static int attach(creation *made, MPI_Comm comm) {
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
  g->creation_ids[0] = made->votes->context;
  g->creation_ids[1] = 0;
  g->diverged = 1;
  PMPI_Comm_set_errhandler(comm, made->guard.handler);
  return rgi_fault_comm_attach(comm, g);
}

static int vote(creation *made, int error) {
  int mine = error == RG_SUCCESS, all = 0;
  RGI_TRY(rg_allreduce(made->votes, &mine, &all, 1, MPI_INT, MPI_MIN));
  if (error || all)
    return error;
  return rgi_error(RG_ERR_NOMEM, "%s: another process has not made the communicator", made->call);
}

/* code: MPI's. */
static int end_creation(creation *made, int code, MPI_Comm *comm) {
  int error = rgi_fault_guard_end(&made->guard, code, made->call);
  if (!error && *comm != MPI_COMM_NULL)
    error = attach(made, *comm);
  PMPI_Errhandler_free(&made->guard.handler);
  if (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED)
    error = vote(made, error);
  return error;
}

/* MPI's answer to the program. */
static int answer(creation *made, int error, int code, MPI_Comm *comm) {
  MPI_Comm parent = made->parent->comm;
  if (error) {
    rgi_overlay_revoke(made->votes->context);
    *comm = MPI_COMM_NULL;
  }
  rg_group_free(&made->votes);
  if (error == RG_ERR_MPI) {
    PMPI_Comm_call_errhandler(parent, code);
    return code;
  }
  return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, parent, error) : MPI_SUCCESS;
}

#define CREATE(function, parent_comm, made_comm, ...)                                              \
  rgi_fault_comm *state = rgi_fault_comm_find(parent_comm);                                        \
  creation made;                                                                                   \
  int code = MPI_SUCCESS;                                                                          \
  if (!state || !(made_comm))                                                                      \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  int error = begin_creation(&made, state, #function);                                             \
  if (!error) {                                                                                    \
    rgi_fault_guard_begin(&made.guard, state);                                                     \
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
