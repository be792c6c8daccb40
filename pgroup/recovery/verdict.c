/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * On a node the members of a round meet in a slot of the arena. Whoever finds that it
 * can be decided takes the pen, writes the verdict down and closes the round; after
 * that it never changes. If the one with the pen dies, another takes it over. */
#include "recovery/verdict.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

enum { OPEN, CLOSED, PEN }; /* PEN + place of who has it */

typedef struct {
  _Atomic uint32_t said; /* 0: not yet */
  uint32_t word;
  uint32_t dead; /* in the verdict */
} voice;

typedef struct {
  _Atomic uint32_t state;
  uint32_t word, deaths;
  voice voice[];
} meeting;

/* Nobody who has not come yet will come. */
static int is_over(const void *memory, int users) {
  const meeting *m = memory;
  for (int i = 0; i < users; i++)
    if (!atomic_load(&m->voice[i].said) && !m->voice[i].dead)
      return 0;
  return atomic_load(&m->state) == CLOSED;
}

static int is_gone(rg_group g, int rank) {
  return rgi_is_dead(rgi_members_at(g->members, rank));
}

/* It will not say anything any more: it has ended well. */
static int has_ended(rg_group g, int rank) {
  int place = rgi_node_find(rgi_members_at(g->members, rank));
  return place >= 0 && rgi_has_left(place);
}

static int can_decide(rg_group g, const meeting *m, int all) {
  for (int i = 0; all && i < rgi_members_count(g->members); i++)
    if (!atomic_load(&m->voice[i].said) && !is_gone(g, i) && !has_ended(g, i))
      return 0;
  return 1;
}

static int take_pen(meeting *m) {
  uint32_t state = atomic_load(&m->state);
  int lost = state >= PEN && rgi_is_dead(rgi_node.ranks[state - PEN]);
  return (state == OPEN || lost) &&
         atomic_compare_exchange_strong(&m->state, &state, PEN + (uint32_t)rgi_node.me);
}

static void wake_members(rg_group g) {
  for (int i = 0; i < rgi_members_count(g->members); i++) {
    int place = rgi_node_find(rgi_members_at(g->members, i));
    if (place >= 0)
      rgi_ring(place);
  }
}

static void write_verdict(rg_group g, meeting *m) {
  m->word = ~0u;
  m->deaths = 0;
  for (int i = 0; i < rgi_members_count(g->members); i++) {
    voice *v = &m->voice[i];
    v->dead = is_gone(g, i) != 0;
    m->deaths += v->dead;
    if (atomic_load(&v->said))
      m->word &= v->word;
  }
  atomic_store(&m->state, CLOSED);
  wake_members(g);
}

static int decide(rg_group g, const char *call, meeting *m, int all) {
  rgi_wait w;
  rgi_wait_start_unscoped(&w, call, -1); /* deaths are what this is about */
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    if (atomic_load(&m->state) == CLOSED)
      return RG_SUCCESS;
    RGI_TRY(rgi_births_check(g->births, call));
    rgi_liveness_look_now();
    if (can_decide(g, m, all) && take_pen(m)) {
      write_verdict(g, m);
      return RG_SUCCESS;
    }
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, 1));
  }
}

static int read_verdict(const meeting *m, int n, rgi_verdict *v) {
  v->word = m->word;
  v->deaths = (int)m->deaths;
  v->dead = malloc((size_t)n);
  if (!v->dead)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", n);
  for (int i = 0; i < n; i++)
    v->dead[i] = (unsigned char)m->voice[i].dead;
  return RG_SUCCESS;
}

static int on_one_node(rg_group g) {
  for (int i = 0; rgi_node.count > 1 && i < rgi_members_count(g->members); i++)
    if (rgi_node_of(rgi_members_at(g->members, i)) != rgi_node.mine)
      return 0;
  return 1;
}

int rgi_decide(rg_group g, const char *call, unsigned word, int all, rgi_verdict *verdict) {
  int n = rgi_members_count(g->members);
  uint64_t slot, key = rgi_mix(g->context + 0x76657264u + ((uint64_t)g->rounds << 32));
  void *memory;
  if (!on_one_node(g))
    return rgi_decide_far(g, call, word, all, verdict);
  RGI_TRY(rgi_births_check(g->births, call));
  RGI_TRY(rgi_slot_attach(key, n, sizeof(meeting) + (size_t)n * sizeof(voice), &slot, &memory));
  meeting *m = memory;
  m->voice[g->me].word = word;
  atomic_store(&m->voice[g->me].said, 1);
  if (all)
    wake_members(g);
  int error = decide(g, call, m, all);
  if (!error) {
    g->rounds++;
    error = read_verdict(m, n, verdict);
  }
  rgi_slot_detach(slot, is_over);
  return error;
}
