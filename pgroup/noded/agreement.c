/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "noded/connection.h"
#include "shm/arena.h"

enum {
  MESSAGE_PROPOSAL = 2,
  MESSAGE_DECISION,
  MESSAGE_PREPARE,
  MESSAGE_PROMISE
}; /* messages; 1 is the daemon's */

/* Of the agreements of all nodes so many are kept: a later one about the same group says
 * that everybody has the decision. A decision that some may come for much later stays. */
#define KEPT 1024

typedef struct agreement {
  struct agreement *next;
  rgi_agreement_proposal *proposal; /* what is known of the proposal; or the decision */
  int me, decided;                  /* me: this node's index among the group's */
  int proposed_to;                  /* whom this node has spoken to, or -1 */
  int changed;                      /* since then */
  int promised;                     /* takes no decision of an earlier root */
  int told;                         /* those who wait here */
  int preparing;                    /* as a root: waits for promises */
  unsigned char *to;                /* for each node: it is to hear the decision */
  unsigned char *answered;
  uint64_t round_at, flags_at;
} agreement;

static agreement *agreements;

static struct {
  int mine;                  /* this node's index */
  const unsigned char *lost; /* of each node: whether it is */
  const rgi_process_table *table;
} council;

/* --- agreements ------------------------------------------------------------------------------ */

static int index_of(const agreement *t, int node) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (rgi_agreement_nodes(t->proposal)[i] == node)
      return i;
  return -1;
}

static int node_at(const agreement *t, int i) {
  return rgi_agreement_nodes(t->proposal)[i];
}

static int is_lost(const agreement *t, int i) {
  return council.lost[node_at(t, i)];
}

static agreement *drop_agreement(agreement *t) {
  agreement *next = t->next;
  free(t->proposal);
  free(t->to);
  free(t->answered);
  free(t);
  return next;
}

static void drop_old(void) {
  int n = 0;
  for (agreement **at = &agreements; *at;)
    if ((*at)->decided && (*at)->proposal->all && ++n > KEPT)
      *at = drop_agreement(*at);
    else
      at = &(*at)->next;
}

static rgi_agreement_proposal *copy_of(const rgi_agreement_proposal *m) {
  size_t bytes = rgi_agreement_bytes(m->nodes, m->dead);
  rgi_agreement_proposal *copy = malloc(bytes);
  if (copy)
    memcpy(copy, m, bytes);
  return copy;
}

/* A new one knows the group's nodes, and nothing else. */
static agreement *begin_agreement(const rgi_agreement_proposal *m) {
  agreement *t = calloc(1, sizeof *t);
  if (!t)
    return NULL;
  *t = (agreement){.next = agreements,
                   .proposal = copy_of(m),
                   .proposed_to = -1,
                   .to = calloc((size_t)m->nodes, 1),
                   .answered = calloc((size_t)m->nodes, 1)};
  if (!t->proposal || !t->to || !t->answered || (t->me = index_of(t, council.mine)) < 0) {
    drop_agreement(t);
    return NULL;
  }
  memset(rgi_agreement_states(t->proposal), 0, (size_t)m->nodes);
  t->proposal->dead = -1;
  t->proposal->word = ~0u;
  t->proposal->failed = 0;
  t->proposal->accepted = -1;
  agreements = t;
  drop_old();
  return t;
}

static agreement *find_agreement(const rgi_agreement_proposal *m) {
  for (agreement *t = agreements; t; t = t->next)
    if (t->proposal->group == m->group && t->proposal->round == m->round &&
        t->proposal->all == m->all && t->proposal->nodes == m->nodes)
      return t;
  return begin_agreement(m);
}

/* Where all must speak the dead are not listed; else the first one's are kept. A decision stays. */
static void merge_proposal(agreement *t, const rgi_agreement_proposal *m) {
  rgi_agreement_proposal *proposal = t->proposal, *from = (rgi_agreement_proposal *)(uintptr_t)m;
  if (proposal->accepted >= 0)
    return;
  for (int i = 0; i < m->nodes; i++)
    if (rgi_agreement_states(from)[i] & ~rgi_agreement_states(proposal)[i]) {
      rgi_agreement_states(proposal)[i] |= rgi_agreement_states(from)[i];
      t->changed = 1;
    }
  proposal->word &= m->word;
  proposal->failed |= m->failed;
  if (proposal->dead >= 0 || m->dead < 0)
    return;
  rgi_agreement_proposal *more = realloc(proposal, rgi_agreement_bytes(m->nodes, m->dead));
  if (!more)
    return;
  t->proposal = more;
  more->dead = m->dead;
  memcpy(rgi_agreement_dead(more), rgi_agreement_dead(from), 4 * (size_t)m->dead);
  t->changed = 1;
}

/* --- the tree ----------------------------------------------------------------------------- */

static int root_of(const agreement *t) {
  int i = 0;
  while (is_lost(t, i) && i < t->me)
    i++;
  return i;
}

/* The nearest ancestor that lives; for the root itself -1. */
static int parent_of(const agreement *t) {
  int i = t->me;
  while (i > 0) {
    i = (i - 1) / 2;
    if (!is_lost(t, i))
      return i;
  }
  i = root_of(t);
  return i == t->me ? -1 : i;
}

static int is_below(int i, int me) {
  while (i > me)
    i = (i - 1) / 2;
  return i == me;
}

/* Whether there is enough to go up, or to be decided. */
static int is_complete(const agreement *t, int parent) {
  if (!t->proposal->all)
    return t->proposal->dead >= 0;
  for (int i = 0; i < t->proposal->nodes; i++)
    if ((parent < 0 || is_below(i, t->me)) && !rgi_agreement_states(t->proposal)[i] &&
        !is_lost(t, i))
      return 0;
  return 1;
}

/* --- saying ------------------------------------------------------------------------------- */

static void send_to(const agreement *t, int i, uint32_t kind, int ballot) {
  rgi_agreement_proposal *m = t->proposal;
  m->ballot = ballot;
  rgi_connection_send(node_at(t, i), kind, m, rgi_agreement_bytes(m->nodes, m->dead));
}

/* Once: afterwards those who waited may have given the memory back. */
static void tell_here(agreement *t) {
  if (!t->round_at || t->told)
    return;
  t->told = 1;
  rgi_agreement_round *round = rgi_arena_at(t->round_at);
  unsigned char *flags_at = rgi_arena_at(t->flags_at);
  for (int i = 0; i < t->proposal->dead; i++)
    flags_at[rgi_agreement_dead(t->proposal)[i]] = 1;
  round->word = t->proposal->word;
  round->deaths = t->proposal->failed;
  atomic_store(&round->state, RGI_AGREEMENT_DECIDED);
  rgi_process_table_ring(council.table);
}

static void tell_decision(agreement *t) {
  t->decided = 1;
  tell_here(t);
  for (int i = 0; i < t->proposal->nodes; i++)
    if (t->to[i] && !is_lost(t, i))
      send_to(t, i, MESSAGE_DECISION, t->proposal->accepted);
}

static int has_lost(const agreement *t) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (is_lost(t, i))
      return 1;
  return 0;
}

/* Those who have spoken need not have known of the loss of a node that was awaited. */
static void make_decision(agreement *t) {
  if (t->proposal->accepted < 0)
    t->proposal->failed |= t->proposal->dead > 0 || has_lost(t);
  t->proposal->accepted = t->me;
  tell_decision(t);
}

static void prepare_all(agreement *t) {
  t->promised = t->me;
  for (int i = 0; i < t->proposal->nodes; i++)
    if (t->to[i] && !is_lost(t, i))
      send_to(t, i, MESSAGE_PREPARE, t->me);
}

static int has_all_promises(const agreement *t) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (t->to[i] && !is_lost(t, i) && !t->answered[i])
      return 0;
  return 1;
}

/* A root that was not the first one. Whoever has a decision does not speak any more, so it asks
 * before all have spoken. Who has promised it something hears from it: of others it takes none. */
static void take_over(agreement *t) {
  int first = !t->preparing;
  t->preparing = 1;
  if (first)
    for (int i = 0; i < t->proposal->nodes; i++)
      t->to[i] = i != t->me;
  if (first && t->decided)
    make_decision(t);
  else if (first)
    prepare_all(t);
  if (!t->decided && has_all_promises(t) && (t->proposal->accepted >= 0 || is_complete(t, -1)))
    make_decision(t);
}

static void advance_agreement(agreement *t) {
  int parent = parent_of(t);
  if (parent < 0 && t->me > 0) {
    take_over(t);
  } else if (t->decided || !is_complete(t, parent)) {
    return;
  } else if (parent < 0) {
    make_decision(t);
  } else if (t->proposed_to != parent || t->changed) {
    t->proposed_to = parent;
    t->changed = 0;
    send_to(t, parent, MESSAGE_PROPOSAL, 0);
  }
}

/* --- hearing --------------------------------------------------------------------------------- */

static void receive_proposal(agreement *t, int from, const rgi_agreement_proposal *m) {
  t->to[from] = 1;
  if (t->decided) {
    send_to(t, from, MESSAGE_DECISION, t->proposal->accepted);
    return;
  }
  merge_proposal(t, m);
  advance_agreement(t);
}

static void take_decision(agreement *t, const rgi_agreement_proposal *m) {
  rgi_agreement_proposal *decision = copy_of(m);
  if (!decision)
    return;
  free(t->proposal);
  t->proposal = decision;
}

static void receive_decision(agreement *t, const rgi_agreement_proposal *m) {
  if (t->decided || m->ballot < t->promised)
    return;
  take_decision(t, m);
  tell_decision(t);
}

static void receive_prepare(agreement *t, int from, const rgi_agreement_proposal *m) {
  if (m->ballot < t->promised)
    return;
  t->promised = m->ballot;
  send_to(t, from, MESSAGE_PROMISE, m->ballot);
}

static void receive_promise(agreement *t, int from, const rgi_agreement_proposal *m) {
  if (!t->preparing || t->decided || m->ballot != t->me)
    return;
  t->answered[from] = 1;
  if (m->accepted > t->proposal->accepted)
    take_decision(t, m);
  advance_agreement(t);
}

static int is_valid_proposal(const rgi_agreement_proposal *m, size_t bytes) {
  return bytes >= sizeof *m && m->nodes > 0 && m->nodes < 1 << 24 && m->dead < 1 << 28 &&
         bytes == rgi_agreement_bytes(m->nodes, m->dead);
}

static void receive_message(agreement *t, int from, uint32_t kind,
                            const rgi_agreement_proposal *m) {
  int i = index_of(t, from);
  if (i < 0)
    return;
  if (kind == MESSAGE_PROPOSAL)
    receive_proposal(t, i, m);
  else if (kind == MESSAGE_DECISION)
    receive_decision(t, m);
  else if (kind == MESSAGE_PREPARE)
    receive_prepare(t, i, m);
  else if (kind == MESSAGE_PROMISE)
    receive_promise(t, i, m);
}

void rgi_agreement_receive(int from, uint32_t kind, const void *data, size_t bytes) {
  rgi_agreement_proposal *m = malloc(bytes + sizeof *m); /* aligned */
  if (!m)
    return;
  memcpy(m, data, bytes);
  agreement *t = is_valid_proposal(m, bytes) ? find_agreement(m) : NULL;
  if (t)
    receive_message(t, from, kind, m);
  free(m);
}

void rgi_agreement_propose(uint64_t at) {
  rgi_agreement_proposal *m = rgi_arena_at(at);
  size_t bytes = rgi_agreement_bytes(m->nodes, m->dead);
  agreement *t = find_agreement(m);
  if (t) {
    t->round_at = m->round_at;
    t->flags_at = m->flags_at;
    if (t->decided) {
      tell_here(t);
    } else {
      merge_proposal(t, m);
      advance_agreement(t);
    }
  }
  rgi_arena_free(at, bytes);
}

void rgi_agreement_node_lost(void) {
  for (agreement *t = agreements; t; t = t->next)
    advance_agreement(t);
}

void rgi_agreement_open(int node, const unsigned char lost[], const rgi_process_table *table) {
  council.mine = node;
  council.lost = lost;
  council.table = table;
}

void rgi_agreement_close(void) {
  while (agreements)
    agreements = drop_agreement(agreements);
}
