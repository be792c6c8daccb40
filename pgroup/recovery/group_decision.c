/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The members of a round on one node share a slot of the node's arena, which they find by the
 * group's context and the number of the round. Each writes its vote there. A member that finds that
 * no more votes are to come from its node becomes the decider. If all members are on this node, the
 * decider writes the decision and closes the round. Otherwise it submits the votes of its node to
 * the node daemons' agreement, and the daemon does so. After that the decision
 * never changes.
 *
 * state goes from OPEN to DECIDER + place to CLOSED; over several nodes to SUBMITTED between these
 * two. The compare-and-swap to DECIDER + place admits one decider at a time. If that one dies,
 * another living member swaps in its own place and begins anew: no member reads a decision before
 * the round is closed, and the daemons decide once for each round, whatever is submitted later. A
 * proposal is submitted again, too, when a process has died since, so that the agreement does not
 * wait for a node on which no member lives.
 * Ordering: a member stores its word before `cast`, and the decision is stored before CLOSED;
 * readers load in the opposite order; all these are sequentially consistent.
 *
 * The slot is freed when all members that are not dead have voted and detached. A member that is
 * late therefore still finds the decision of a round that did not wait for it. The slot and the
 * proposal take memory that the arena has set aside, if it is full. */
#include "recovery/group_decision.h"

#include <regroup/group.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "noded/consensus/agreement_proposal.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "shm/arena.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

/* --- a node's proposal ------------------------------------------------------------------------ */

/* A proposal lists the nodes of the members. The agreement waits for the vote of each node on which
 * a member lives; where it does not await votes, the first list of dead members decides. */
typedef struct {
  rg_group g;
  const char *call;
  int all;                    /* whether each member's vote is awaited */
  uint32_t word;              /* of the node's members */
  rgi_agreement_round *round; /* in the arena, */
  unsigned char *flags;       /* as is the byte for each member: 1 if it is dead */
} proposal_call;

/* The list of the members' nodes goes in the order of their lowest ranks. of: for each member its
 * node's place in the list. Returns how many nodes there are; -1: no memory. */
static int list_nodes(const rgi_members *members, int *of) {
  int n = rgi_members_count(members);
  for (int i = 0; i < n; i++)
    of[i] = rgi_node_of(rgi_members_at(members, i));
  return rgi_node_number(of, n, rgi_node.count);
}

static int count_dead(const rgi_members *members) {
  int dead = 0;
  for (int i = 0; i < rgi_members_count(members); i++)
    dead += rgi_process_is_dead(rgi_members_at(members, i));
  return dead;
}

/* The agreement waits for the vote of each node that is not EMPTY: one with a living member. */
static void fill_lists(const rgi_members *members, rgi_agreement_proposal *proposal,
                       const int *of) {
  unsigned char *states = rgi_agreement_states(proposal);
  memset(states, RGI_AGREEMENT_EMPTY, (size_t)proposal->nodes);
  for (int i = 0, dead = 0; i < rgi_members_count(members); i++) {
    int rank = rgi_members_at(members, i), at = of[i];
    rgi_agreement_nodes(proposal)[at] = rgi_node_of(rank);
    if (!rgi_process_is_dead(rank))
      states[at] = rank == rgi_node.rank               ? RGI_AGREEMENT_VOTED
                   : states[at] == RGI_AGREEMENT_EMPTY ? 0
                                                       : states[at];
    else if (dead < proposal->dead)
      rgi_agreement_dead(proposal)[dead++] = i;
  }
}

static uint64_t offset_of(const void *at) {
  return (uint64_t)((const char *)at - (const char *)rgi_arena_at(0));
}

/* n: nodes. */
static int send_proposal(const proposal_call *group_proposal, const int *of, int n) {
  int dead = count_dead(group_proposal->g->members), listed = group_proposal->all ? 0 : dead;
  uint64_t at;
  RGI_TRY(rgi_arena_alloc_for(RGI_ARENA_DECISION, group_proposal->call,
                              rgi_agreement_bytes(n, listed), &at));
  rgi_agreement_proposal *proposal = rgi_arena_at(at);
  *proposal = (rgi_agreement_proposal){.group = group_proposal->g->context,
                                       .round = *rgi_group_rounds(group_proposal->g),
                                       .all = group_proposal->all != 0,
                                       .word = group_proposal->word,
                                       .failed = dead > 0,
                                       .nodes = n,
                                       .dead = listed,
                                       .members = rgi_members_count(group_proposal->g->members),
                                       .accepted = -1,
                                       .round_at = offset_of(group_proposal->round),
                                       .flags_at = offset_of(group_proposal->flags)};
  fill_lists(group_proposal->g->members, proposal, of);
  if (group_proposal->all)
    proposal->dead = -1;
  rgi_overlay_tell(RGI_FACT_PROPOSAL, at);
  return RG_SUCCESS;
}

/* By one of the node's members. RG_ERR_NOMEM. */
static int submit_proposal(const proposal_call *group_proposal) {
  int members = rgi_members_count(group_proposal->g->members),
      *of = rgi_spare_alloc((size_t)members * sizeof *of);
  int n = of ? list_nodes(group_proposal->g->members, of) : -1;
  int error =
      n < 0 ? rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", group_proposal->call, members)
            : send_proposal(group_proposal, of, n);
  rgi_spare_free(of);
  return error;
}

enum {
  OPEN = 0,
  CLOSED = RGI_AGREEMENT_DECIDED,
  SUBMITTED,
  DECIDER
}; /* DECIDER + the decider's place on the node */

typedef struct {
  _Atomic uint32_t cast; /* 0: not yet */
  uint32_t word;
  _Atomic uint32_t dead; /* the member is dead in the decision, or since */
} node_vote;

typedef struct {
  rgi_agreement_round head;
  _Atomic uint32_t deaths; /* that were known at the last proposal */
  node_vote vote[];        /* of the members on this node; behind them a byte for each member */
} node_round;

/* One call: the members of this node, as ranks of the group. */
typedef struct {
  rg_group g;
  const char *call;
  int all, n, here, me, *rank;
  uint64_t slot;
  node_round *m;
} node_call;

/* Whether no member of this node is still to come. */
static int is_over(const void *memory, int users) {
  const node_round *round = memory;
  for (int i = 0; i < users; i++)
    if (!atomic_load(&round->vote[i].cast) && !atomic_load(&round->vote[i].dead))
      return 0;
  return atomic_load(&round->head.state) == CLOSED;
}

static int world_rank(const node_call *caller, int i) {
  return rgi_members_at(caller->g->members, caller->rank[i]);
}

static unsigned char *flags_of(const node_call *caller) {
  return (unsigned char *)(caller->m->vote + caller->here);
}

static void ring_members(const node_call *caller) {
  for (int i = 0; i < caller->here; i++)
    rgi_node_ring(rgi_node_find(world_rank(caller, i)));
}

/* --- the decider ----------------------------------------------------------------------- */

/* A process that has ended without an error does not vote any more. */
static int node_is_complete(const node_call *caller) {
  for (int i = 0; caller->all && i < caller->here; i++)
    if (!atomic_load(&caller->m->vote[i].cast) && !rgi_process_is_dead(world_rank(caller, i)) &&
        !rgi_process_has_left(rgi_node_find(world_rank(caller, i))))
      return 0;
  return 1;
}

static uint32_t combine_words(const node_call *caller) {
  uint32_t word = ~0u;
  for (int i = 0; i < caller->here; i++)
    if (atomic_load(&caller->m->vote[i].cast))
      word &= caller->m->vote[i].word;
  return word;
}

/* All members are on this node. */
static void write_decision(const node_call *caller) {
  unsigned char *flags = flags_of(caller);
  caller->m->head.word = combine_words(caller);
  caller->m->head.deaths = 0;
  for (int i = 0; i < caller->here; i++) {
    flags[caller->rank[i]] = rgi_process_is_dead(world_rank(caller, i)) != 0;
    caller->m->head.deaths |= flags[caller->rank[i]];
  }
  atomic_store(&caller->m->head.state, CLOSED);
  ring_members(caller);
}

static int submit_votes(const node_call *caller, uint32_t deaths) {
  const proposal_call group_proposal = {.g = caller->g,
                                        .call = caller->call,
                                        .all = caller->all,
                                        .word = combine_words(caller),
                                        .round = &caller->m->head,
                                        .flags = flags_of(caller)};
  uint32_t decider = DECIDER + (uint32_t)rgi_node.me;
  atomic_store(&caller->m->deaths, deaths);
  int error = submit_proposal(&group_proposal);
  /* Not if the daemon has closed the round already. */
  atomic_compare_exchange_strong(&caller->m->head.state, &decider, error ? OPEN : SUBMITTED);
  return error;
}

/* Once; again when the decider has died, and when a process has died since the last proposal. */
static int needs_decider(const node_call *caller, uint32_t state, uint32_t deaths) {
  if (state >= DECIDER)
    return rgi_process_is_dead(rgi_node.ranks[state - DECIDER]);
  return state == OPEN ||
         (state == SUBMITTED && caller->all && atomic_load(&caller->m->deaths) != deaths);
}

static int decide_if_due(const node_call *caller) {
  uint32_t deaths = (uint32_t)rgi_process_deaths(), state = atomic_load(&caller->m->head.state);
  if (!node_is_complete(caller) || !needs_decider(caller, state, deaths) ||
      !atomic_compare_exchange_strong(&caller->m->head.state, &state,
                                      DECIDER + (uint32_t)rgi_node.me))
    return RG_SUCCESS;
  if (caller->here < caller->n)
    return submit_votes(caller, deaths);
  write_decision(caller);
  return RG_SUCCESS;
}

/* --- one call ----------------------------------------------------------------------------- */

static int is_closed(const node_call *caller) {
  return atomic_load(&caller->m->head.state) == CLOSED;
}

static int look_once(const node_call *caller, int *done) {
  *done = is_closed(caller);
  if (*done)
    return RG_SUCCESS;
  RGI_TRY(rgi_failure_check_creation(caller->g->creation_ids, caller->call));
  rgi_process_check_now();
  RGI_TRY(decide_if_due(caller));
  *done = is_closed(caller);
  return RG_SUCCESS;
}

static int wait_for_decision(const node_call *caller) {
  rgi_wait wait;
  rgi_wait_start_unscoped(&wait, caller->call, -1); /* a death must not end this wait */
  for (;;) {
    int done;
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    RGI_TRY(look_once(caller, &done));
    if (done)
      return RG_SUCCESS;
    rgi_progress(); /* other processes may wait for messages and requests of this one */
    rgi_requests_progress();
    int idle = !rgi_progress_busy() && !rgi_requests_busy();
    RGI_TRY(rgi_wait_bell(&wait, rgi_node_bell(), bell, idle));
  }
}

static int find_members_here(node_call *caller) {
  caller->rank = rgi_spare_alloc((size_t)rgi_node.n * sizeof *caller->rank);
  if (!caller->rank)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", caller->call, rgi_node.n);
  for (int i = 0; i < rgi_node.n; i++) {
    int rank = rgi_members_find(caller->g->members, rgi_node.ranks[i]);
    if (rank < 0)
      continue;
    if (rank == caller->g->me)
      caller->me = caller->here;
    caller->rank[caller->here++] = rank;
  }
  if (caller->here < caller->n && !rgi_overlay_exists())
    return rgi_error(RG_ERR_UNSUPPORTED,
                     "%s: the group's members are on several nodes, and the job was not started so "
                     "that it survives deaths (RG_SURVIVE)",
                     caller->call);
  return RG_SUCCESS;
}

static int read_decision(const node_call *caller, rgi_group_decision *decision) {
  for (int i = 0; i < caller->here; i++)
    if (rgi_process_is_dead(world_rank(caller, i)))
      atomic_store(&caller->m->vote[i].dead, 1);
  decision->word = caller->m->head.word;
  decision->deaths = (int)caller->m->head.deaths;
  decision->dead = rgi_spare_alloc((size_t)caller->n);
  if (!decision->dead)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", caller->call, caller->n);
  memcpy(decision->dead, flags_of(caller), (size_t)caller->n);
  return RG_SUCCESS;
}

static int cast_vote(node_call *caller, unsigned word) {
  uint64_t key = rgi_mix_bits(caller->g->context + 0x66617276u +
                              ((uint64_t)*rgi_group_rounds(caller->g) << 32));
  _Static_assert(sizeof(node_vote) <= 14 && sizeof(node_round) <= RGI_SLOT_HEAD_BYTES / 2,
                 "what is set aside suffices");
  size_t bytes = sizeof(node_round) + (size_t)caller->here * sizeof(node_vote) + (size_t)caller->n;
  void *memory;
  RGI_TRY(rgi_failure_check_creation(caller->g->creation_ids, caller->call));
  RGI_TRY(rgi_slot_attach(key, caller->here, bytes, &caller->slot, &memory));
  caller->m = memory;
  caller->m->vote[caller->me].word = word;
  atomic_store(&caller->m->vote[caller->me].cast, 1);
  if (caller->all)
    ring_members(caller);
  return RG_SUCCESS;
}

/* error: of the wait. */
static int end_round(node_call *caller, int error, rgi_group_decision *decision) {
  if (!error) {
    ++*rgi_group_rounds(caller->g);
    error = read_decision(caller, decision);
  }
  rgi_slot_detach_surviving(caller->slot, is_over);
  return error;
}

static int run_round(node_call *caller, unsigned word, rgi_group_decision *decision) {
  RGI_TRY(cast_vote(caller, word));
  return end_round(caller, wait_for_decision(caller), decision);
}

int rgi_group_decision_make(rg_group g, const char *call, unsigned word, int all,
                            rgi_group_decision *decision) {
  node_call caller = {.g = g, .call = call, .all = all, .n = rgi_members_count(g->members)};
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_DECISION);
  int error = find_members_here(&caller);
  if (!error)
    error = run_round(&caller, word, decision);
  rgi_arena_set_purpose(before);
  rgi_spare_free(caller.rank);
  return error;
}

/* --- in parts ----------------------------------------------------------------------------- */

struct rgi_group_ballot {
  node_call caller;
  int error;
};

int rgi_group_ballot_begin(rg_group g, const char *call, unsigned word, rgi_group_ballot **ballot) {
  rgi_group_ballot *made = rgi_spare_alloc(sizeof *made); /* the others wait for it */
  if (!made)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a ballot", call);
  *made = (rgi_group_ballot){
      .caller = {.g = g, .call = call, .all = 1, .n = rgi_members_count(g->members)}};
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_DECISION);
  int error = find_members_here(&made->caller);
  if (!error)
    error = cast_vote(&made->caller, word);
  rgi_arena_set_purpose(before);
  if (error) {
    rgi_spare_free(made->caller.rank);
    rgi_spare_free(made);
    return error;
  }
  *ballot = made;
  return RG_SUCCESS;
}

int rgi_group_ballot_test(rgi_group_ballot *ballot, int *done) {
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_DECISION);
  ballot->error = look_once(&ballot->caller, done);
  rgi_arena_set_purpose(before);
  return ballot->error;
}

int rgi_group_ballot_end(rgi_group_ballot *ballot, rgi_group_decision *decision) {
  rgi_group_decision own;
  int error = end_round(&ballot->caller, ballot->error, decision ? decision : &own);
  if (!error && !decision)
    rgi_spare_free(own.dead);
  rgi_spare_free(ballot->caller.rank);
  rgi_spare_free(ballot);
  return error;
}
