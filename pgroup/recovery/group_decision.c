/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Decisions of members on one node. The members of a round share a slot of the arena, which they
 * find by the group's context and the number of the round. Each writes its vote there. A member
 * that finds that the round can be decided becomes the decider: it writes the decision and closes
 * the round. After that the decision never changes.
 *
 * state goes from OPEN to DECIDER + place to CLOSED. The compare-and-swap to DECIDER + place
 * admits one decider at a time. If that one dies, another living member swaps in its own place
 * and writes the whole decision anew: no member reads a decision before the round is closed.
 * Ordering: a member stores its word before `cast`, the decider stores the decision before
 * CLOSED, and readers load in the opposite order; all these are sequentially consistent.
 *
 * The slot is freed when all members that are not dead have voted and detached. A member that
 * is late therefore still finds the decision of a round that did not wait for it. */
#include "recovery/group_decision.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

enum { OPEN, CLOSED, DECIDER }; /* DECIDER + the decider's place on the node */

typedef struct {
  _Atomic uint32_t cast; /* 0: not yet */
  uint32_t word;
  uint32_t dead; /* in the decision */
} round_vote;

typedef struct {
  _Atomic uint32_t state;
  uint32_t word, deaths;
  round_vote vote[];
} decision_round;

/* Whether no member is still to come. */
static int is_over(const void *memory, int users) {
  const decision_round *m = memory;
  for (int i = 0; i < users; i++)
    if (!atomic_load(&m->vote[i].cast) && !m->vote[i].dead)
      return 0;
  return atomic_load(&m->state) == CLOSED;
}

static int is_gone(rg_group g, int rank) {
  return rgi_process_is_dead(rgi_members_at(g->members, rank));
}

/* Whether it has ended without an error: it will not vote any more. */
static int has_ended(rg_group g, int rank) {
  int place = rgi_node_find(rgi_members_at(g->members, rank));
  return place >= 0 && rgi_process_has_left(place);
}

static int can_decide(rg_group g, const decision_round *m, int all) {
  for (int i = 0; all && i < rgi_members_count(g->members); i++)
    if (!atomic_load(&m->vote[i].cast) && !is_gone(g, i) && !has_ended(g, i))
      return 0;
  return 1;
}

static int become_decider(decision_round *m) {
  uint32_t state = atomic_load(&m->state);
  int lost = state >= DECIDER && rgi_process_is_dead(rgi_node.ranks[state - DECIDER]);
  return (state == OPEN || lost) &&
         atomic_compare_exchange_strong(&m->state, &state, DECIDER + (uint32_t)rgi_node.me);
}

static void wake_members(rg_group g) {
  for (int i = 0; i < rgi_members_count(g->members); i++) {
    int place = rgi_node_find(rgi_members_at(g->members, i));
    if (place >= 0)
      rgi_node_ring(place);
  }
}

static void write_decision(rg_group g, decision_round *m) {
  m->word = ~0u;
  m->deaths = 0;
  for (int i = 0; i < rgi_members_count(g->members); i++) {
    round_vote *v = &m->vote[i];
    v->dead = is_gone(g, i) != 0;
    m->deaths += v->dead;
    if (atomic_load(&v->cast))
      m->word &= v->word;
  }
  atomic_store(&m->state, CLOSED);
  wake_members(g);
}

static int reach_decision(rg_group g, const char *call, decision_round *m, int all) {
  rgi_wait w;
  rgi_wait_start_unscoped(&w, call, -1); /* a death must not end this wait */
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    if (atomic_load(&m->state) == CLOSED)
      return RG_SUCCESS;
    RGI_TRY(rgi_failure_check_creation(g->creation_ids, call));
    rgi_process_check_now();
    if (can_decide(g, m, all) && become_decider(m)) {
      write_decision(g, m);
      return RG_SUCCESS;
    }
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, 1));
  }
}

static int read_decision(const decision_round *m, int n, rgi_group_decision *v) {
  v->word = m->word;
  v->deaths = (int)m->deaths;
  v->dead = malloc((size_t)n);
  if (!v->dead)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", n);
  for (int i = 0; i < n; i++)
    v->dead[i] = (unsigned char)m->vote[i].dead;
  return RG_SUCCESS;
}

static int on_one_node(rg_group g) {
  for (int i = 0; rgi_node.count > 1 && i < rgi_members_count(g->members); i++)
    if (rgi_node_of(rgi_members_at(g->members, i)) != rgi_node.mine)
      return 0;
  return 1;
}

int rgi_group_decision_make(rg_group g, const char *call, unsigned word, int all,
                            rgi_group_decision *decision) {
  int n = rgi_members_count(g->members);
  uint64_t slot, key = rgi_mix_bits(g->context + 0x76657264u + ((uint64_t)g->rounds << 32));
  void *memory;
  if (!on_one_node(g))
    return rgi_group_decision_make_nodes(g, call, word, all, decision);
  RGI_TRY(rgi_failure_check_creation(g->creation_ids, call));
  RGI_TRY(rgi_slot_attach(key, n, sizeof(decision_round) + (size_t)n * sizeof(round_vote), &slot,
                          &memory));
  decision_round *m = memory;
  m->vote[g->me].word = word;
  atomic_store(&m->vote[g->me].cast, 1);
  if (all)
    wake_members(g);
  int error = reach_decision(g, call, m, all);
  if (!error) {
    g->rounds++;
    error = read_decision(m, n, decision);
  }
  rgi_slot_detach(slot, is_over);
  return error;
}
