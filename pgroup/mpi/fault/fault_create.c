/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creating communicators. MPI makes the communicator, in a call that can be interrupted; then the
 * members of the parent agree whether all have it: one that dies afterwards has had it. A member
 * that meets a death or a revocation gets that error, and revokes the creation's number: where
 * other members have the communicator, all calls on it are errors. One that MPI may not
 * have made on all is never freed by MPI, which would give its number to another one.
 *
 * The agreement is on a group of its own. It ends without a result when the creation's number or
 * the parent is revoked. A member knows the number before it does anything: one that knows of a
 * failure already revokes it and takes no part; so does one that agrees on the parent after a
 * failure, or shrinks it, instead of creating (rgi_fault_create_abandon). */
#include "mpi/fault/fault_create.h"

#include <regroup/collectives.h>
#include <regroup/recovery.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/comm.h"
#include "formation/group.h"
#include "mpi/fault/fault_operation.h"
#include "mpi/fault/fault_request.h"
#include "mpi/intercept.h"
#include "noded/client/overlay_client.h"
#include "recovery/group_decision.h"
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

/* The processes of both sides, in an order that they share: the side that is not high first, or
 * that with the lower first rank. */
static int join_sides(MPI_Comm comm, int high, int high_there, MPI_Group *both) {
  MPI_Group mine, theirs;
  int first = 0, at[2];
  if (PMPI_Comm_group(comm, &mine) || PMPI_Comm_remote_group(comm, &theirs))
    return rgi_error(RG_ERR_NOMEM, "MPI: no memory for MPI's group");
  PMPI_Group_translate_ranks(mine, 1, &first, rgi_runtime.mpi_group, &at[0]);
  PMPI_Group_translate_ranks(theirs, 1, &first, rgi_runtime.mpi_group, &at[1]);
  int low = high == high_there ? at[0] < at[1] : high_there;
  PMPI_Group_union(low ? mine : theirs, low ? theirs : mine, both);
  PMPI_Group_free(&mine);
  PMPI_Group_free(&theirs);
  return RG_SUCCESS;
}

static int members_of(MPI_Comm comm, rgi_members **members) {
  MPI_Group group;
  int is_inter = 0, error = RG_SUCCESS;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter)
    error = join_sides(comm, 0, 0, &group);
  else if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
    error = rgi_error(RG_ERR_NOMEM, "MPI: no memory for MPI's group");
  RGI_TRY(error);
  error = rgi_fault_comm_members(group, members);
  PMPI_Group_free(&group);
  return error;
}

/* Told apart from the other groups that the same call makes by the first member. */
static int attach(rgi_fault_creation *made, MPI_Comm comm) {
  rgi_members *members;
  rg_group g;
  RGI_TRY(members_of(comm, &members));
  uint32_t part = 1 + (uint32_t)rgi_members_at(members, 0);
  RGI_TRY(rgi_group_derive_part(made->parent->group, made->derivation, part, members, &g));
  g->creation_ids[0] = made->number;
  g->creation_ids[1] = 0;
  g->diverged = 1;
  PMPI_Comm_set_errhandler(comm, made->guard.handler);
  return rgi_fault_comm_attach(comm, g);
}

/* Of a vote in vain: not the number's revocation. */
static int cause_of(rgi_fault_creation *made, int vain) {
  int cause = rgi_fault_comm_check(made->parent, made->call);
  return cause ? cause : vain;
}

static int tell_unmade(const rgi_fault_creation *made) {
  return rgi_error(RG_ERR_NOMEM, "%s: another process has not made the communicator", made->call);
}

/* Bits of a member's vote. */
enum { WELL = 1, HAS_COMM = 2 };

/* The members' common word is known: no member waits for another any more. */
static int end_vote(rgi_fault_creation *made, unsigned word, int error, MPI_Comm *comm) {
  made->decided = 1;
  if (word == HAS_COMM && *comm != MPI_COMM_NULL && rgi_process_deaths() == 0)
    PMPI_Comm_free(comm);
  return error || word & WELL ? error : tell_unmade(made);
}

int rgi_fault_create_vote(rgi_fault_creation *made, int error, MPI_Comm *comm) {
  unsigned word = (error ? 0 : WELL) | (comm ? HAS_COMM : 0);
  int vain = rg_group_agree(made->votes, &word, NULL);
  return vain ? cause_of(made, vain) : end_vote(made, word, error, comm);
}

/* code: MPI's. */
static int end_creation(rgi_fault_creation *made, int code, MPI_Comm *comm) {
  int error = rgi_fault_guard_end(&made->guard, code, made->call);
  /* After a death MPI may meet what an earlier creation has left under way: the others wait in MPI,
   * until the number is revoked. */
  if (error == RG_ERR_MPI && rgi_process_deaths() > 0)
    error = rgi_error(RG_ERR_PROC_FAILED, "%s: a message of a failed creation", made->call);
  MPI_Comm *to_free = error ? NULL : comm;
  if (!error && *comm != MPI_COMM_NULL)
    error = attach(made, *comm);
  PMPI_Errhandler_free(&made->guard.handler);
  if (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED)
    error = rgi_fault_create_vote(made, error, to_free);
  return error;
}

/* The answer to the program, after the communicator's error handler. code: MPI's. */
static int raise_error(MPI_Comm comm, int error, int code) {
  if (error != RG_ERR_MPI)
    return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, comm, error) : MPI_SUCCESS;
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

/* The caller has no communicator. */
static void give_none(const rgi_fault_creation *made, MPI_Comm *comm) {
  if (!made->decided)
    rgi_overlay_revoke(made->number);
  *comm = MPI_COMM_NULL;
}

static int answer(rgi_fault_creation *made, int error, int code, MPI_Comm *comm) {
  MPI_Comm parent = made->parent->comm;
  if (error)
    give_none(made, comm);
  if (error == RG_ERR_REVOKED && !rgi_fault_comm_is_revoked(made->parent))
    error = rgi_error(RG_ERR_PROC_FAILED, "%s: another process has met a failure", made->call);
  rg_group_free(&made->votes);
  return raise_error(parent, error, code);
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

#define CREATE_BY(function, create, parent_comm, made_comm, ...)                                   \
  rgi_fault_comm *state = rgi_fault_comm_find(parent_comm);                                        \
  rgi_fault_creation made;                                                                         \
  int code = MPI_SUCCESS;                                                                          \
  if (!state || !(made_comm))                                                                      \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  int error = rgi_fault_create_begin(&made, state, #function);                                     \
  if (!error) {                                                                                    \
    rgi_fault_guard_begin(&made.guard, state, made.votes);                                         \
    code = create;                                                                                 \
    error = end_creation(&made, code, made_comm);                                                  \
  }                                                                                                \
  return answer(&made, error, code, made_comm)

#define CREATE(function, parent_comm, made_comm, ...)                                              \
  CREATE_BY(function, P##function(__VA_ARGS__), parent_comm, made_comm, __VA_ARGS__)

RG_API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm) {
  CREATE(MPI_Comm_dup, comm, newcomm, comm, newcomm);
}

RG_API int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm) {
  CREATE(MPI_Comm_dup_with_info, comm, newcomm, comm, info, newcomm);
}

/* --- MPI_Comm_idup ------------------------------------------------------------------------- */

/* MPI's own request under way; then the vote. */
typedef struct {
  rgi_fault_operation head;
  rgi_fault_creation made;
  MPI_Comm comm, *newcomm;
  MPI_Request inner;
  rgi_group_ballot *ballot;
  int error;
} idup_operation;

static idup_operation *whole(rgi_fault_operation *operation) {
  return (idup_operation *)operation;
}

static int vote_on(idup_operation *o, int *done) {
  rgi_group_decision decision;
  int error = rgi_group_ballot_test(o->ballot, done);
  if (!error && !*done)
    return RG_SUCCESS;
  error = rgi_group_ballot_end(o->ballot, &decision);
  if (error)
    return cause_of(&o->made, error);
  rgi_spare_free(decision.dead);
  return end_vote(&o->made, decision.word, o->error, &o->comm);
}

/* What is given up is MPI's: it is not told. */
static int continue_idup(rgi_fault_operation *operation, int *done) {
  idup_operation *o = whole(operation);
  int flag = 1;
  if (o->ballot)
    return vote_on(o, done);
  if (PMPI_Test(&o->inner, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return rgi_error(RG_ERR_MPI, "%s: an error of MPI's", o->made.call);
  if (!flag)
    return rgi_fault_comm_check(o->made.parent, o->made.call);
  o->error = attach(&o->made, o->comm);
  unsigned word = (o->error ? 0 : WELL) | HAS_COMM;
  RGI_TRY(rgi_group_ballot_begin(o->made.votes, o->made.call, word, &o->ballot));
  return vote_on(o, done);
}

static int step_and_give(rgi_fault_operation *operation, int *done) {
  idup_operation *o = whole(operation);
  int error = continue_idup(operation, done);
  if (error)
    give_none(&o->made, o->newcomm);
  else if (*done)
    *o->newcomm = o->comm;
  return error;
}

static void free_idup(rgi_fault_operation *operation) {
  PMPI_Errhandler_free(&whole(operation)->made.guard.handler);
  rg_group_free(&whole(operation)->made.votes);
  rgi_spare_free(operation);
}

/* Where it cannot begin the request ends with the error. */
static int refuse_idup(rgi_fault_creation *made, int error, MPI_Comm *newcomm,
                       MPI_Request *request) {
  const rgi_fault_request noted = {
      .state = made->parent, .kind = RGI_FAULT_OWN, .peer = MPI_PROC_NULL, .error = error};
  give_none(made, newcomm);
  rg_group_free(&made->votes);
  return rgi_fault_request_stand_in(&noted, request);
}

static int start_idup(rgi_fault_comm *state, const char *call, MPI_Info info, int has_info,
                      MPI_Comm *newcomm, MPI_Request *request) {
  rgi_fault_creation made;
  idup_operation *o = NULL;
  int error = rgi_fault_create_begin(&made, state, call);
  if (!error && !(o = rgi_spare_alloc_zeroed(1, sizeof *o)))
    error = rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  if (error)
    return refuse_idup(&made, error, newcomm, request);
  *o = (idup_operation){.head = {.step = step_and_give, .free = free_idup, .state = state},
                        .made = made,
                        .newcomm = newcomm};
  PMPI_Comm_get_errhandler(state->comm, &o->made.guard.handler);
  int code = has_info ? PMPI_Comm_idup_with_info(state->comm, info, &o->comm, &o->inner)
                      : PMPI_Comm_idup(state->comm, &o->comm, &o->inner);
  if (code) {
    rgi_overlay_revoke(made.number);
    free_idup(&o->head);
    return code;
  }
  return rgi_fault_operation_start(&o->head, request);
}

RG_API int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  return state ? start_idup(state, __func__, MPI_INFO_NULL, 0, newcomm, request)
               : RGI_INTERCEPT_NEXT(MPI_Comm_idup)(comm, newcomm, request);
}

RG_API int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                                   MPI_Request *request) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  return state ? start_idup(state, __func__, info, 1, newcomm, request)
               : RGI_INTERCEPT_NEXT(MPI_Comm_idup_with_info)(comm, info, newcomm, request);
}

/* --- the other calls ------------------------------------------------------------------------ */

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

RG_API int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int n, const int sources[],
                                          const int source_weights[], int m, const int targets[],
                                          const int target_weights[], MPI_Info info, int reorder,
                                          MPI_Comm *newcomm) {
  CREATE(MPI_Dist_graph_create_adjacent, comm, newcomm, comm, n, sources, source_weights, m,
         targets, target_weights, info, reorder, newcomm);
}

/* --- inter-communicators ------------------------------------------------------------------ */

/* MPICH's own call takes its messages' context from the side that is high: two that threads of the
 * other side merge at once may have the same one. */
static int merge(const rgi_fault_creation *made, int high, MPI_Comm *newcomm) {
  MPI_Comm comm = made->parent->comm;
  MPI_Group both;
  int mine = high != 0, theirs = 0;
  if (!made->parent->is_inter)
    return PMPI_Intercomm_merge(comm, high, newcomm); /* an error */
  int code = PMPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_MAX, comm);
  if (code)
    return code;
  if (join_sides(comm, mine, theirs, &both))
    return MPI_ERR_NO_MEM;
  code =
      PMPI_Comm_create_group(rgi_runtime.comm, both, rgi_comm_creation_tag(made->number), newcomm);
  PMPI_Group_free(&both);
  return code;
}

RG_API int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *newcomm) {
  CREATE_BY(MPI_Intercomm_merge, merge(&made, high, newcomm), comm, newcomm, comm, high, newcomm);
}

static int group_of_sides(MPI_Comm comm, rg_group *all) {
  MPI_Group both;
  RGI_TRY(join_sides(comm, 0, 0, &both));
  int error = rg_group_from_mpi_group(both, 0, all);
  PMPI_Group_free(&both);
  return error;
}

/* All have it, or those that have it get errors on it. */
static int attach_both(MPI_Comm comm, MPI_Errhandler handler) {
  rg_group all, made;
  PMPI_Comm_set_errhandler(comm, handler);
  RGI_TRY(group_of_sides(comm, &all));
  int error = rgi_group_derive(all, &made);
  int met = error ? error : rg_barrier(all); /* a fast member may revoke the new one already */
  rg_group_free(&all);
  RGI_TRY(error);
  uint64_t context = made->context;
  int attached = rgi_fault_comm_attach(comm, made);
  error = met ? met : attached;
  if (error)
    rgi_overlay_revoke(context);
  return error;
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
  if (error && error != RG_ERR_MPI)
    *newcomm = MPI_COMM_NULL;
  return raise_error(comm, error, code);
}
