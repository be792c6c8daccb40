/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Decisions of members on several nodes. The members on each node share a slot of their node's
 * arena, as in group_decision.c. The node's decider does not decide: it submits the votes of its
 * node as a proposal to the node daemons' agreement (noded/agreement.h). The daemon writes the
 * decision into the slot, sets the state to CLOSED and wakes the members.
 *
 * state: OPEN, DECIDER + place while a member prepares the proposal, SUBMITTED, CLOSED. If the
 * decider dies, another member submits again. It is submitted again, too, when a process has died
 * since, so that the agreement does not wait for a node on which no member lives. The daemons take
 * the decision once for each round of the group; further proposals do not change it. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "noded/agreement_proposal.h"
#include "noded/overlay_client.h"
#include "progress/progress.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "recovery/group_decision.h"
#include "shm/arena.h"
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

/* --- the proposal of this node --------------------------------------------------------- */

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

/* The list of the members' nodes goes in the order of their lowest ranks. of: for each member its
 * node's place in the list. Returns how many nodes there are; -1: no memory. */
static int list_nodes(const node_call *s, int *of) {
  for (int i = 0; i < s->n; i++)
    of[i] = rgi_node_of(rgi_members_at(s->g->members, i));
  return rgi_node_number(of, s->n, rgi_node.count);
}

/* The agreement waits for the vote of each node that is not EMPTY: one with a living member. */
static void fill_proposal(const node_call *s, rgi_agreement_proposal *m, const int *of) {
  unsigned char *states = rgi_agreement_states(m);
  memset(states, RGI_AGREEMENT_EMPTY, (size_t)m->nodes);
  for (int i = 0, dead = 0; i < s->n; i++) {
    int rank = rgi_members_at(s->g->members, i), at = of[i];
    rgi_agreement_nodes(m)[at] = rgi_node_of(rank);
    if (!rgi_process_is_dead(rank))
      states[at] = rank == rgi_node.rank               ? RGI_AGREEMENT_VOTED
                   : states[at] == RGI_AGREEMENT_EMPTY ? 0
                                                       : states[at];
    else if (dead < m->dead)
      rgi_agreement_dead(m)[dead++] = i;
  }
}

static int count_dead(const node_call *s) {
  int dead = 0;
  for (int i = 0; i < s->n; i++)
    dead += rgi_process_is_dead(rgi_members_at(s->g->members, i));
  return dead;
}

static uint64_t offset_of(const void *at) {
  return (uint64_t)((const char *)at - (const char *)rgi_arena_at(0));
}

static int submit_proposal(const node_call *s, uint32_t deaths) {
  int *of = malloc((size_t)s->n * sizeof *of), n = of ? list_nodes(s, of) : -1;
  uint64_t at;
  if (n < 0) {
    free(of);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", s->call, s->n);
  }
  int dead = count_dead(s), listed = s->all ? 0 : dead;
  int error = rgi_arena_alloc_last(s->call, rgi_agreement_bytes(n, listed), &at);
  if (!error) {
    rgi_agreement_proposal *m = rgi_arena_at(at);
    *m = (rgi_agreement_proposal){.group = s->g->context,
                                  .round = s->g->rounds,
                                  .all = s->all != 0,
                                  .word = combine_words(s),
                                  .failed = dead > 0,
                                  .nodes = n,
                                  .dead = listed,
                                  .accepted = -1,
                                  .round_at = offset_of(s->m),
                                  .flags_at = offset_of(flags_of(s))};
    fill_proposal(s, m, of);
    atomic_store(&s->m->deaths, deaths);
    if (s->all)
      m->dead = -1;
    rgi_overlay_tell(RGI_FACT_PROPOSAL, at);
  }
  free(of);
  return error;
}

/* --- the decider ----------------------------------------------------------------------- */

/* Once; again when the decider has died while it prepared the proposal, and when a process has
 * died since the last proposal. */
static int must_submit(const node_call *s, uint32_t state, uint32_t deaths) {
  if (state >= DECIDER)
    return rgi_process_is_dead(rgi_node.ranks[state - DECIDER]);
  return state == OPEN || (state == SUBMITTED && s->all && atomic_load(&s->m->deaths) != deaths);
}

static int submit_if_due(const node_call *s) {
  uint32_t deaths = (uint32_t)rgi_process_deaths(), state = atomic_load(&s->m->head.state);
  uint32_t decider = DECIDER + (uint32_t)rgi_node.me;
  if (!node_is_complete(s) || !must_submit(s, state, deaths) ||
      !atomic_compare_exchange_strong(&s->m->head.state, &state, decider))
    return RG_SUCCESS;
  int error = submit_proposal(s, deaths);
  /* Not if the daemon has closed the round already. */
  atomic_compare_exchange_strong(&s->m->head.state, &decider, error ? OPEN : SUBMITTED);
  return error;
}

static int wait_for_decision(const node_call *s) {
  rgi_wait w;
  rgi_wait_start_unscoped(&w, s->call, -1); /* a death must not end this wait */
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    if (atomic_load(&s->m->head.state) == CLOSED)
      return RG_SUCCESS;
    RGI_TRY(rgi_failure_check_creation(s->g->creation_ids, s->call));
    rgi_process_check_now();
    RGI_TRY(submit_if_due(s));
    rgi_progress(); /* other processes may wait for messages of this one */
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy()));
  }
}

/* --- one call --------------------------------------------------------------------------------- */

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
  return RG_SUCCESS;
}

static void ring_members(const node_call *s) {
  for (int i = 0; i < s->here; i++)
    rgi_node_ring(rgi_node_find(world_rank(s, i)));
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
  uint64_t key = rgi_mix_bits(s->g->context + 0x66617276u + ((uint64_t)s->g->rounds << 32));
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
    s->g->rounds++;
    error = read_decision(s, decision);
  }
  rgi_slot_detach(s->slot, is_over);
  return error;
}

int rgi_group_decision_make_nodes(rg_group g, const char *call, unsigned word, int all,
                                  rgi_group_decision *decision) {
  node_call s = {.g = g, .call = call, .all = all, .n = rgi_members_count(g->members)};
  if (!rgi_overlay_exists())
    return rgi_error(RG_ERR_UNSUPPORTED,
                     "%s: the group's members are on several nodes, and the job was not started so "
                     "that it survives deaths (RG_SURVIVE)",
                     call);
  int error = find_members_here(&s);
  if (!error)
    error = run_round(&s, word, decision);
  free(s.rank);
  return error;
}
