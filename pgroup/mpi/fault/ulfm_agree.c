/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPIX_Comm_agree and MPIX_Comm_iagree: decisions of the living members
 * (recovery/group_decision.h), one after the other. The first one combines the values; on an
 * inter-communicator there are two, one for the values of each side. After a death another one
 * tells whether all have acknowledged it. Each agreement has a group of its own, since those with
 * requests are not under way in the order of the others. An MPIX_Comm_agree and an MPIX_Comm_iagree
 * match, which is more than MPI asks for: there are libraries whose processes call either. */
#include "mpi/fault/ulfm_agree.h"

#include <regroup/mpi-ext.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/group.h"
#include "mpi/fault/fault_create.h"
#include "mpi/fault/fault_request.h"
#include "mpi/fault/ulfm_calls.h"
#include "recovery/group_decision.h"
#include "shm/process.h"

typedef struct {
  rgi_fault_comm *state;
  const char *call;
  unsigned word, result; /* the caller's; all members' */
  int acknowledged;      /* failures, before the call */
  int values;            /* decisions on values; the next one is on acknowledgements */
  int side;              /* of an inter-communicator: the decision on the caller's own side */
  int stage, deaths;
  unsigned known; /* all dead of the decisions have been acknowledged */
} agreement;

static agreement begin(rgi_fault_comm *state, const char *call, int flag) {
  rgi_fault_create_abandon(state);
  return (agreement){
      .state = state,
      .call = call,
      .word = (unsigned)flag,
      .acknowledged = state->acknowledged,
      .values = state->is_inter ? 2 : 1,
      .side = state->is_inter &&
              rgi_members_find(state->peers, rgi_members_at(state->group->members, 0)) >= 0,
      .known = 1};
}

static int is_over(const agreement *a) {
  return a->stage > a->values || (a->stage == a->values && !a->deaths);
}

/* The vote in the next decision. */
static unsigned vote_of(const agreement *a) {
  if (a->stage == a->values)
    return a->known;
  return !a->state->is_inter || a->stage == a->side ? a->word : ~0u;
}

/* Whether the program has acknowledged all that are dead in the decision. Over several nodes the
 * decision does not list them: then all that this process knows of count. One that did not vote is
 * known to the member that has voted in its stead. */
static unsigned has_acknowledged(const agreement *a, const rgi_group_decision *decision) {
  const rgi_members *members = a->state->group->members;
  int left = 0, noticed = 0;
  if (rgi_members_here(members) < rgi_members_count(members))
    return rgi_fault_comm_failures(a->state) <= a->acknowledged;
  for (int i = 0; i < rgi_members_count(members); i++)
    left += decision->dead[i];
  for (int i = 0, all = rgi_process_deaths(); i < all && noticed < a->acknowledged; i++) {
    int rank = rgi_members_find(members, rgi_process_death(i));
    noticed += rank >= 0;
    left -= rank >= 0 && decision->dead[rank];
  }
  return left == 0;
}

static void take_decision(agreement *a, rgi_group_decision *decision) {
  if (a->stage == a->values)
    a->known = decision->word & 1;
  else {
    if (!a->state->is_inter || a->stage != a->side)
      a->result = decision->word;
    a->deaths |= decision->deaths;
    a->known &= has_acknowledged(a, decision);
  }
  rgi_spare_free(decision->dead);
  a->stage++;
}

static int end(const agreement *a) {
  return !a->deaths || a->known
             ? RG_SUCCESS
             : rgi_error(RG_ERR_PROC_FAILED,
                         "%s: not all have acknowledged that a process has died", a->call);
}

/* The next agreement's. The creations that have led to the communicator end it, no revocation of
 * the communicator. */
static int next_group(rgi_fault_comm *state, rg_group *g) {
  uint64_t count = atomic_fetch_add(&state->started, 1);
  uint64_t number = rgi_mix_bits(state->group->context + 0x69616772u + (count << 32)) | 1;
  RGI_TRY(rgi_group_with_context(rgi_members_share(state->group->members), state->group->tag,
                                 number, g));
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    (*g)->creation_ids[i] = state->group->creation_ids[i];
  return RG_SUCCESS;
}

static int decide_all(agreement *a, rg_group g) {
  while (!is_over(a)) {
    rgi_group_decision decision;
    RGI_TRY(rgi_group_decision_make(g, a->call, vote_of(a), 1, &decision));
    take_decision(a, &decision);
  }
  return RG_SUCCESS;
}

RG_API int MPIX_Comm_agree(MPI_Comm comm, int *flag) {
  RGI_ULFM_STATE(state, comm);
  agreement a = begin(state, __func__, *flag);
  rg_group g = NULL;
  int error = next_group(state, &g);
  if (!error)
    error = decide_all(&a, g);
  if (g)
    rg_group_free(&g);
  if (error)
    return rgi_ulfm_raise(state, error);
  *flag = (int)a.result;
  return rgi_ulfm_raise(state, end(&a));
}

/* --- with a request ------------------------------------------------------------------------- */

typedef struct {
  rgi_fault_operation head;
  agreement a;
  rg_group g;
  rgi_group_ballot *ballot; /* of the decision under way, or NULL */
  int *flag;
  int (*finish)(rgi_fault_comm *state, int *flag);
} agree_operation;

static agree_operation *whole(rgi_fault_operation *operation) {
  return (agree_operation *)operation;
}

static int continue_agreement(rgi_fault_operation *operation, int *done) {
  agree_operation *o = whole(operation);
  while (!is_over(&o->a)) {
    rgi_group_decision decision;
    int decided = 0;
    if (!o->ballot)
      RGI_TRY(rgi_group_ballot_begin(o->g, o->a.call, vote_of(&o->a), &o->ballot));
    int error = rgi_group_ballot_test(o->ballot, &decided);
    if (!error && !decided)
      return RG_SUCCESS;
    error = rgi_group_ballot_end(o->ballot, &decision);
    o->ballot = NULL;
    RGI_TRY(error);
    take_decision(&o->a, &decision);
  }
  *done = 1;
  if (o->finish)
    return RG_SUCCESS;
  *o->flag = (int)o->a.result;
  return end(&o->a);
}

static int finish(rgi_fault_operation *operation) {
  return whole(operation)->finish(operation->state, whole(operation)->flag);
}

static void free_operation(rgi_fault_operation *operation) {
  rg_group_free(&whole(operation)->g);
  rgi_spare_free(operation);
}

int rgi_ulfm_agree_start(rgi_fault_comm *state, const char *call, int *flag,
                         int (*finish_it)(rgi_fault_comm *state, int *flag), MPI_Request *request) {
  agree_operation *o = rgi_spare_alloc_zeroed(1, sizeof *o);
  int error = o ? next_group(state, &o->g) : rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  if (error) {
    rgi_spare_free(o);
    return rgi_ulfm_raise(state, error);
  }
  o->head = (rgi_fault_operation){.step = continue_agreement,
                                  .finish = finish_it ? finish : NULL,
                                  .free = free_operation,
                                  .state = state};
  o->a = begin(state, call, flag && !finish_it ? *flag : ~0);
  o->flag = flag;
  o->finish = finish_it;
  return rgi_fault_operation_start(&o->head, request);
}

RG_API int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request) {
  RGI_ULFM_STATE(state, comm);
  return rgi_ulfm_agree_start(state, __func__, flag, NULL, request);
}
