/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Over several nodes: the members of one node meet in a slot of its arena, as on one
 * node, and one of them asks the council of the nodes' speakers (council.h). The verdict
 * comes into the slot. If the one who asks dies, another does it again. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "message/message.h"
#include "noded/council.h"
#include "noded/mesh.h"
#include "progress/progress.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "recovery/verdict.h"
#include "shm/arena.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

enum { OPEN = 0, CLOSED = RGI_MEETING_CLOSED, ASKED, PEN }; /* PEN + place of who has it */

typedef struct {
  _Atomic uint32_t said; /* 0: not yet */
  uint32_t word;
  _Atomic uint32_t dead; /* and will not come */
} voice;

typedef struct {
  rgi_meeting begin;
  _Atomic uint32_t deaths; /* that were known when it was asked last */
  voice voice[];           /* of the members here; behind them a byte for each member */
} meeting;

/* One call: the members of this node, as ranks of the group. */
typedef struct {
  rg_group g;
  const char *call;
  int all, n, here, me, *rank;
  uint64_t slot;
  meeting *m;
} session;

static int is_over(const void *memory, int users) {
  const meeting *m = memory;
  for (int i = 0; i < users; i++)
    if (!atomic_load(&m->voice[i].said) && !atomic_load(&m->voice[i].dead))
      return 0;
  return atomic_load(&m->begin.state) == CLOSED;
}

static int world_rank(const session *s, int i) {
  return rgi_members_at(s->g->members, s->rank[i]);
}

static unsigned char *flags_of(const session *s) {
  return (unsigned char *)(s->m->voice + s->here);
}

/* --- what this node has to say --------------------------------------------------------- */

static int can_speak(const session *s) {
  for (int i = 0; s->all && i < s->here; i++)
    if (!atomic_load(&s->m->voice[i].said) && !rgi_is_dead(world_rank(s, i)) &&
        !rgi_has_left(rgi_node_find(world_rank(s, i))))
      return 0;
  return 1;
}

static uint32_t words_here(const session *s) {
  uint32_t word = ~0u;
  for (int i = 0; i < s->here; i++)
    if (atomic_load(&s->m->voice[i].said))
      word &= s->m->voice[i].word;
  return word;
}

static int ascending(const void *a, const void *b) {
  const int32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The nodes of the members, each once. */
static int list_nodes(const session *s, int32_t *nodes) {
  int n = 0;
  for (int i = 0; i < s->n; i++) {
    int node = rgi_mesh_node_of(rgi_members_at(s->g->members, i));
    if (n == 0 || nodes[n - 1] != node)
      nodes[n++] = node;
  }
  qsort(nodes, (size_t)n, sizeof *nodes, ascending);
  int once = 0;
  for (int i = 0; i < n; i++)
    if (once == 0 || nodes[once - 1] != nodes[i])
      nodes[once++] = nodes[i];
  return once;
}

/* Where somebody lives the others wait for that node's word. */
static void fill_in(const session *s, rgi_motion *m, const int32_t *nodes) {
  unsigned char *states = rgi_motion_states(m);
  memcpy(rgi_motion_nodes(m), nodes, 4 * (size_t)m->nodes);
  memset(states, RGI_NODE_EMPTY, (size_t)m->nodes);
  for (int i = 0, dead = 0; i < s->n; i++) {
    int rank = rgi_members_at(s->g->members, i), node = rgi_mesh_node_of(rank);
    const int32_t *at = bsearch(&node, nodes, (size_t)m->nodes, sizeof *nodes, ascending);
    if (!rgi_is_dead(rank))
      states[at - nodes] = rank == rgi_node.ranks[rgi_node.me]    ? RGI_NODE_SPOKEN
                           : states[at - nodes] == RGI_NODE_EMPTY ? 0
                                                                  : states[at - nodes];
    else if (dead < m->dead)
      rgi_motion_dead(m)[dead++] = i;
  }
}

static int count_dead(const session *s) {
  int dead = 0;
  for (int i = 0; i < s->n; i++)
    dead += rgi_is_dead(rgi_members_at(s->g->members, i));
  return dead;
}

static uint64_t offset_of(const void *at) {
  return (uint64_t)((const char *)at - (const char *)rgi_arena_at(0));
}

static int ask(const session *s, uint32_t deaths) {
  int32_t *nodes = malloc((size_t)s->n * sizeof *nodes);
  uint64_t at;
  if (!nodes)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", s->call, s->n);
  int n = list_nodes(s, nodes), dead = count_dead(s), listed = s->all ? 0 : dead;
  int error = rgi_arena_take_last(s->call, rgi_motion_bytes(n, listed), &at);
  if (!error) {
    rgi_motion *m = rgi_arena_at(at);
    *m = (rgi_motion){.group = s->g->context,
                      .round = s->g->rounds,
                      .all = s->all != 0,
                      .word = words_here(s),
                      .failed = dead > 0,
                      .nodes = n,
                      .dead = listed,
                      .accepted = -1,
                      .meeting = offset_of(s->m),
                      .flags = offset_of(flags_of(s))};
    fill_in(s, m, nodes);
    atomic_store(&s->m->deaths, deaths);
    if (s->all)
      m->dead = -1;
    rgi_mesh_tell(RGI_TELL_MOTION, at);
  }
  free(nodes);
  return error;
}

/* --- the pen --------------------------------------------------------------------------------- */

/* Asked once; and again when somebody has died since, so that nobody waits for a node
 * where no member lives any more. */
static int must_ask(const session *s, uint32_t state, uint32_t deaths) {
  if (state >= PEN)
    return rgi_is_dead(rgi_node.ranks[state - PEN]);
  return state == OPEN || (state == ASKED && s->all && atomic_load(&s->m->deaths) != deaths);
}

static int ask_if_due(const session *s) {
  uint32_t deaths = (uint32_t)rgi_deaths(), state = atomic_load(&s->m->begin.state);
  uint32_t pen = PEN + (uint32_t)rgi_node.me;
  if (!can_speak(s) || !must_ask(s, state, deaths) ||
      !atomic_compare_exchange_strong(&s->m->begin.state, &state, pen))
    return RG_SUCCESS;
  int error = ask(s, deaths);
  /* The verdict may be there already. */
  atomic_compare_exchange_strong(&s->m->begin.state, &pen, error ? OPEN : ASKED);
  return error;
}

static int wait_for_verdict(const session *s) {
  rgi_wait w;
  rgi_wait_start_unscoped(&w, s->call, -1); /* deaths are what this is about */
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    if (atomic_load(&s->m->begin.state) == CLOSED)
      return RG_SUCCESS;
    RGI_TRY(rgi_births_check(s->g->births, s->call));
    rgi_liveness_look_now();
    RGI_TRY(ask_if_due(s));
    rgi_progress(); /* others may need what this process has sent */
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, !rgi_progress_busy()));
  }
}

/* --- one call --------------------------------------------------------------------------------- */

static int find_members_here(session *s) {
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

static void ring_members(const session *s) {
  for (int i = 0; i < s->here; i++)
    rgi_ring(rgi_node_find(world_rank(s, i)));
}

static int read_verdict(const session *s, rgi_verdict *v) {
  for (int i = 0; i < s->here; i++)
    if (rgi_is_dead(world_rank(s, i)))
      atomic_store(&s->m->voice[i].dead, 1);
  v->word = s->m->begin.word;
  v->deaths = (int)s->m->begin.deaths;
  v->dead = malloc((size_t)s->n);
  if (!v->dead)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", s->call, s->n);
  memcpy(v->dead, flags_of(s), (size_t)s->n);
  return RG_SUCCESS;
}

static int hold(session *s, unsigned word, rgi_verdict *verdict) {
  uint64_t key = rgi_mix(s->g->context + 0x66617276u + ((uint64_t)s->g->rounds << 32));
  size_t bytes = sizeof(meeting) + (size_t)s->here * sizeof(voice) + (size_t)s->n;
  void *memory;
  RGI_TRY(rgi_births_check(s->g->births, s->call));
  RGI_TRY(rgi_slot_attach(key, s->here, bytes, &s->slot, &memory));
  s->m = memory;
  s->m->voice[s->me].word = word;
  atomic_store(&s->m->voice[s->me].said, 1);
  if (s->all)
    ring_members(s);
  int error = wait_for_verdict(s);
  if (!error) {
    s->g->rounds++;
    error = read_verdict(s, verdict);
  }
  rgi_slot_detach(s->slot, is_over);
  return error;
}

int rgi_decide_far(rg_group g, const char *call, unsigned word, int all, rgi_verdict *verdict) {
  session s = {.g = g, .call = call, .all = all, .n = rgi_members_count(g->members)};
  if (!rgi_mesh_there())
    return rgi_error(RG_ERR_UNSUPPORTED,
                     "%s: the group's members are on several nodes, and the job was not started so "
                     "that it survives deaths (RG_SURVIVE)",
                     call);
  int error = find_members_here(&s);
  if (!error)
    error = hold(&s, word, verdict);
  free(s.rank);
  return error;
}
