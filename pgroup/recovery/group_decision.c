/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The members of a round on one node share a slot of the node's arena, which they find by the
 * group's context and the number of the round. Each writes its vote there. A member that finds that
 * no more votes are to come from its node becomes the decider. If all members are on this node, the
 * decider writes the decision and closes the round. Otherwise it submits the votes of its node to
 * the node daemons' agreement (group_proposal.h), and the daemon does so. After that the decision
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

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "recovery/group_proposal.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

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
  const node_round *m = memory;
  for (int i = 0; i < users; i++)
    if (!atomic_load(&m->vote[i].cast) && !atomic_load(&m->vote[i].dead))
      return 0;
  return atomic_load(&m->head.state) == CLOSED;
}

static int world_rank(const node_call *s, int i) {
  return rgi_members_at(s->g->members, s->rank[i]);
}

static unsigned char *flags_of(const node_call *s) {
  return (unsigned char *)(s->m->vote + s->here);
}

static void ring_members(const node_call *s) {
  for (int i = 0; i < s->here; i++)
    rgi_node_ring(rgi_node_find(world_rank(s, i)));
}

/* --- the decider ----------------------------------------------------------------------- */

/* A process that has ended without an error does not vote any more. */
static int node_is_complete(const node_call *s) {
  for (int i = 0; s->all && i < s->here; i++)
    if (!atomic_load(&s->m->vote[i].cast) && !rgi_process_is_dead(world_rank(s, i)) &&
        !rgi_process_has_left(rgi_node_find(world_rank(s, i))))
      return 0;
  return 1;
}

static uint32_t combine_words(const node_call *s) {
  uint32_t word = ~0u;
  for (int i = 0; i < s->here; i++)
    if (atomic_load(&s->m->vote[i].cast))
      word &= s->m->vote[i].word;
  return word;
}

/* All members are on this node. */
static void write_decision(const node_call *s) {
  unsigned char *flags = flags_of(s);
  s->m->head.word = combine_words(s);
  s->m->head.deaths = 0;
  for (int i = 0; i < s->here; i++) {
    flags[s->rank[i]] = rgi_process_is_dead(world_rank(s, i)) != 0;
    s->m->head.deaths |= flags[s->rank[i]];
  }
  atomic_store(&s->m->head.state, CLOSED);
  ring_members(s);
}

static int submit_votes(const node_call *s, uint32_t deaths) {
  const rgi_group_proposal p = {.g = s->g,
                                .call = s->call,
                                .all = s->all,
                                .word = combine_words(s),
                                .round = &s->m->head,
                                .flags = flags_of(s)};
  uint32_t decider = DECIDER + (uint32_t)rgi_node.me;
  atomic_store(&s->m->deaths, deaths);
  int error = rgi_group_proposal_submit(&p);
  /* Not if the daemon has closed the round already. */
  atomic_compare_exchange_strong(&s->m->head.state, &decider, error ? OPEN : SUBMITTED);
  return error;
}

/* Once; again when the decider has died, and when a process has died since the last proposal. */
static int needs_decider(const node_call *s, uint32_t state, uint32_t deaths) {
  if (state >= DECIDER)
    return rgi_process_is_dead(rgi_node.ranks[state - DECIDER]);
  return state == OPEN || (state == SUBMITTED && s->all && atomic_load(&s->m->deaths) != deaths);
}

static int decide_if_due(const node_call *s) {
  uint32_t deaths = (uint32_t)rgi_process_deaths(), state = atomic_load(&s->m->head.state);
  if (!node_is_complete(s) || !needs_decider(s, state, deaths) ||
      !atomic_compare_exchange_strong(&s->m->head.state, &state, DECIDER + (uint32_t)rgi_node.me))
    return RG_SUCCESS;
  if (s->here < s->n)
    return submit_votes(s, deaths);
  write_decision(s);
  return RG_SUCCESS;
}

/* --- one call ----------------------------------------------------------------------------- */

static int wait_for_decision(const node_call *s) {
  rgi_wait w;
  rgi_wait_start_unscoped(&w, s->call, -1); /* a death must not end this wait */
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    if (atomic_load(&s->m->head.state) == CLOSED)
      return RG_SUCCESS;
    RGI_TRY(rgi_failure_check_creation(s->g->creation_ids, s->call));
    rgi_process_check_now();
    RGI_TRY(decide_if_due(s));
    if (atomic_load(&s->m->head.state) == CLOSED)
      return RG_SUCCESS;
    rgi_progress(); /* other processes may wait for messages and requests of this one */
    rgi_requests_progress();
    int idle = !rgi_progress_busy() && !rgi_requests_busy();
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, idle));
  }
}

static int find_members_here(node_call *s) {
  s->rank = malloc((size_t)rgi_node.n * sizeof *s->rank);
  if (!s->rank)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", s->call, rgi_node.n);
  for (int i = 0; i < rgi_node.n; i++) {
    int rank = rgi_members_find(s->g->members, rgi_node.ranks[i]);
    if (rank < 0)
      continue;
    if (rank == s->g->me)
      s->me = s->here;
    s->rank[s->here++] = rank;
  }
  if (s->here < s->n && !rgi_overlay_exists())
    return rgi_error(RG_ERR_UNSUPPORTED,
                     "%s: the group's members are on several nodes, and the job was not started so "
                     "that it survives deaths (RG_SURVIVE)",
                     s->call);
  return RG_SUCCESS;
}

static int read_decision(const node_call *s, rgi_group_decision *v) {
  for (int i = 0; i < s->here; i++)
    if (rgi_process_is_dead(world_rank(s, i)))
      atomic_store(&s->m->vote[i].dead, 1);
  v->word = s->m->head.word;
  v->deaths = (int)s->m->head.deaths;
  v->dead = malloc((size_t)s->n);
  if (!v->dead)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", s->call, s->n);
  memcpy(v->dead, flags_of(s), (size_t)s->n);
  return RG_SUCCESS;
}

static int run_round(node_call *s, unsigned word, rgi_group_decision *decision) {
  uint64_t key =
      rgi_mix_bits(s->g->context + 0x66617276u + ((uint64_t)*rgi_group_rounds(s->g) << 32));
  _Static_assert(sizeof(node_vote) <= 14 && sizeof(node_round) <= RGI_SLOT_HEAD_BYTES / 2,
                 "what is set aside suffices");
  size_t bytes = sizeof(node_round) + (size_t)s->here * sizeof(node_vote) + (size_t)s->n;
  void *memory;
  RGI_TRY(rgi_failure_check_creation(s->g->creation_ids, s->call));
  RGI_TRY(rgi_slot_attach(key, s->here, bytes, &s->slot, &memory));
  s->m = memory;
  s->m->vote[s->me].word = word;
  atomic_store(&s->m->vote[s->me].cast, 1);
  if (s->all)
    ring_members(s);
  int error = wait_for_decision(s);
  if (!error) {
    ++*rgi_group_rounds(s->g);
    error = read_decision(s, decision);
  }
  rgi_slot_detach_surviving(s->slot, is_over);
  return error;
}

int rgi_group_decision_make(rg_group g, const char *call, unsigned word, int all,
                            rgi_group_decision *decision) {
  node_call s = {.g = g, .call = call, .all = all, .n = rgi_members_count(g->members)};
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_DECISION);
  int error = find_members_here(&s);
  if (!error)
    error = run_round(&s, word, decision);
  rgi_arena_set_purpose(before);
  free(s.rank);
  return error;
}
