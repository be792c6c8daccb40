/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/council.h"

#include <stdlib.h>
#include <string.h>

#include "noded/link.h"
#include "shm/arena.h"

enum { RAISE = 2, TELL, ASK, PROMISE }; /* messages; 1 is the speaker's */

/* Of the agreements of all nodes so many are kept: a later one about the same group says
 * that everybody has the verdict. A verdict that some may come for much later stays. */
#define KEPT 1024

typedef struct talk {
  struct talk *next;
  rgi_motion *said;  /* what is known of the motion; or the verdict */
  int me, decided;   /* me: this node's index among the group's */
  int raised_to;     /* whom this node has spoken to, or -1 */
  int changed;       /* since then */
  int promised;      /* takes no verdict of an earlier root */
  int told;          /* those who wait here */
  int asking;        /* as a root: waits for promises */
  unsigned char *to; /* for each node: it is to hear the verdict */
  unsigned char *answered;
  uint64_t meeting, flags;
} talk;

static talk *talks;

static struct {
  int mine;                  /* this node's index */
  const unsigned char *lost; /* of each node: whether it is */
  const rgi_process_table *table;
} council;

/* --- talks ------------------------------------------------------------------------------ */

static int index_of(const talk *t, int node) {
  for (int i = 0; i < t->said->nodes; i++)
    if (rgi_motion_nodes(t->said)[i] == node)
      return i;
  return -1;
}

static int node_at(const talk *t, int i) {
  return rgi_motion_nodes(t->said)[i];
}

static int is_lost(const talk *t, int i) {
  return council.lost[node_at(t, i)];
}

static talk *drop(talk *t) {
  talk *next = t->next;
  free(t->said);
  free(t->to);
  free(t->answered);
  free(t);
  return next;
}

static void drop_old(void) {
  int n = 0;
  for (talk **at = &talks; *at;)
    if ((*at)->decided && (*at)->said->all && ++n > KEPT)
      *at = drop(*at);
    else
      at = &(*at)->next;
}

static rgi_motion *copy_of(const rgi_motion *m) {
  size_t bytes = rgi_motion_bytes(m->nodes, m->dead);
  rgi_motion *copy = malloc(bytes);
  if (copy)
    memcpy(copy, m, bytes);
  return copy;
}

/* A new one knows the group's nodes, and nothing else. */
static talk *begin(const rgi_motion *m) {
  talk *t = calloc(1, sizeof *t);
  if (!t)
    return NULL;
  *t = (talk){.next = talks,
              .said = copy_of(m),
              .raised_to = -1,
              .to = calloc((size_t)m->nodes, 1),
              .answered = calloc((size_t)m->nodes, 1)};
  if (!t->said || !t->to || !t->answered || (t->me = index_of(t, council.mine)) < 0) {
    drop(t);
    return NULL;
  }
  memset(rgi_motion_states(t->said), 0, (size_t)m->nodes);
  t->said->dead = -1;
  t->said->word = ~0u;
  t->said->failed = 0;
  t->said->accepted = -1;
  talks = t;
  drop_old();
  return t;
}

static talk *talk_about(const rgi_motion *m) {
  for (talk *t = talks; t; t = t->next)
    if (t->said->group == m->group && t->said->round == m->round && t->said->all == m->all &&
        t->said->nodes == m->nodes)
      return t;
  return begin(m);
}

/* Where all must speak the dead are not listed; else the first one's are kept. A verdict stays. */
static void merge(talk *t, const rgi_motion *m) {
  rgi_motion *said = t->said, *from = (rgi_motion *)(uintptr_t)m;
  if (said->accepted >= 0)
    return;
  for (int i = 0; i < m->nodes; i++)
    if (rgi_motion_states(from)[i] & ~rgi_motion_states(said)[i]) {
      rgi_motion_states(said)[i] |= rgi_motion_states(from)[i];
      t->changed = 1;
    }
  said->word &= m->word;
  said->failed |= m->failed;
  if (said->dead >= 0 || m->dead < 0)
    return;
  rgi_motion *more = realloc(said, rgi_motion_bytes(m->nodes, m->dead));
  if (!more)
    return;
  t->said = more;
  more->dead = m->dead;
  memcpy(rgi_motion_dead(more), rgi_motion_dead(from), 4 * (size_t)m->dead);
  t->changed = 1;
}

/* --- the tree ----------------------------------------------------------------------------- */

static int root_of(const talk *t) {
  int i = 0;
  while (is_lost(t, i) && i < t->me)
    i++;
  return i;
}

/* The nearest ancestor that lives; for the root itself -1. */
static int parent_of(const talk *t) {
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
static int is_complete(const talk *t, int parent) {
  if (!t->said->all)
    return t->said->dead >= 0;
  for (int i = 0; i < t->said->nodes; i++)
    if ((parent < 0 || is_below(i, t->me)) && !rgi_motion_states(t->said)[i] && !is_lost(t, i))
      return 0;
  return 1;
}

/* --- saying ------------------------------------------------------------------------------- */

static void send_to(const talk *t, int i, uint32_t kind, int ballot) {
  rgi_motion *m = t->said;
  m->ballot = ballot;
  rgi_link_send(node_at(t, i), kind, m, rgi_motion_bytes(m->nodes, m->dead));
}

/* Once: afterwards those who waited may have given the memory back. */
static void tell_here(talk *t) {
  if (!t->meeting || t->told)
    return;
  t->told = 1;
  rgi_meeting *meeting = rgi_arena_at(t->meeting);
  unsigned char *flags = rgi_arena_at(t->flags);
  for (int i = 0; i < t->said->dead; i++)
    flags[rgi_motion_dead(t->said)[i]] = 1;
  meeting->word = t->said->word;
  meeting->deaths = t->said->failed;
  atomic_store(&meeting->state, RGI_MEETING_CLOSED);
  rgi_process_table_ring(council.table);
}

static void tell(talk *t) {
  t->decided = 1;
  tell_here(t);
  for (int i = 0; i < t->said->nodes; i++)
    if (t->to[i] && !is_lost(t, i))
      send_to(t, i, TELL, t->said->accepted);
}

static int has_lost(const talk *t) {
  for (int i = 0; i < t->said->nodes; i++)
    if (is_lost(t, i))
      return 1;
  return 0;
}

/* Those who have spoken need not have known of the loss of a node that was awaited. */
static void decide(talk *t) {
  if (t->said->accepted < 0)
    t->said->failed |= t->said->dead > 0 || has_lost(t);
  t->said->accepted = t->me;
  tell(t);
}

static void ask_all(talk *t) {
  t->promised = t->me;
  for (int i = 0; i < t->said->nodes; i++)
    if (t->to[i] && !is_lost(t, i))
      send_to(t, i, ASK, t->me);
}

static int has_all_answers(const talk *t) {
  for (int i = 0; i < t->said->nodes; i++)
    if (t->to[i] && !is_lost(t, i) && !t->answered[i])
      return 0;
  return 1;
}

/* A root that was not the first one. Whoever has a verdict does not speak any more, so it asks
 * before all have spoken. Who has promised it something hears from it: of others it takes none. */
static void take_over(talk *t) {
  int first = !t->asking;
  t->asking = 1;
  if (first)
    for (int i = 0; i < t->said->nodes; i++)
      t->to[i] = i != t->me;
  if (first && t->decided)
    decide(t);
  else if (first)
    ask_all(t);
  if (!t->decided && has_all_answers(t) && (t->said->accepted >= 0 || is_complete(t, -1)))
    decide(t);
}

static void move_on(talk *t) {
  int parent = parent_of(t);
  if (parent < 0 && t->me > 0) {
    take_over(t);
  } else if (t->decided || !is_complete(t, parent)) {
    return;
  } else if (parent < 0) {
    decide(t);
  } else if (t->raised_to != parent || t->changed) {
    t->raised_to = parent;
    t->changed = 0;
    send_to(t, parent, RAISE, 0);
  }
}

/* --- hearing --------------------------------------------------------------------------------- */

static void hear_raise(talk *t, int from, const rgi_motion *m) {
  t->to[from] = 1;
  if (t->decided) {
    send_to(t, from, TELL, t->said->accepted);
    return;
  }
  merge(t, m);
  move_on(t);
}

static void take_verdict(talk *t, const rgi_motion *m) {
  rgi_motion *verdict = copy_of(m);
  if (!verdict)
    return;
  free(t->said);
  t->said = verdict;
}

static void hear_verdict(talk *t, const rgi_motion *m) {
  if (t->decided || m->ballot < t->promised)
    return;
  take_verdict(t, m);
  tell(t);
}

static void hear_ask(talk *t, int from, const rgi_motion *m) {
  if (m->ballot < t->promised)
    return;
  t->promised = m->ballot;
  send_to(t, from, PROMISE, m->ballot);
}

static void hear_promise(talk *t, int from, const rgi_motion *m) {
  if (!t->asking || t->decided || m->ballot != t->me)
    return;
  t->answered[from] = 1;
  if (m->accepted > t->said->accepted)
    take_verdict(t, m);
  move_on(t);
}

static int is_sound(const rgi_motion *m, size_t bytes) {
  return bytes >= sizeof *m && m->nodes > 0 && m->nodes < 1 << 24 && m->dead < 1 << 28 &&
         bytes == rgi_motion_bytes(m->nodes, m->dead);
}

static void hear(talk *t, int from, uint32_t kind, const rgi_motion *m) {
  int i = index_of(t, from);
  if (i < 0)
    return;
  if (kind == RAISE)
    hear_raise(t, i, m);
  else if (kind == TELL)
    hear_verdict(t, m);
  else if (kind == ASK)
    hear_ask(t, i, m);
  else if (kind == PROMISE)
    hear_promise(t, i, m);
}

void rgi_council_hear(int from, uint32_t kind, const void *data, size_t bytes) {
  rgi_motion *m = malloc(bytes + sizeof *m); /* aligned */
  if (!m)
    return;
  memcpy(m, data, bytes);
  talk *t = is_sound(m, bytes) ? talk_about(m) : NULL;
  if (t)
    hear(t, from, kind, m);
  free(m);
}

void rgi_council_request(uint64_t at) {
  rgi_motion *m = rgi_arena_at(at);
  size_t bytes = rgi_motion_bytes(m->nodes, m->dead);
  talk *t = talk_about(m);
  if (t) {
    t->meeting = m->meeting;
    t->flags = m->flags;
    if (t->decided) {
      tell_here(t);
    } else {
      merge(t, m);
      move_on(t);
    }
  }
  rgi_arena_give(at, bytes);
}

void rgi_council_look(void) {
  for (talk *t = talks; t; t = t->next)
    move_on(t);
}

void rgi_council_open(int node, const unsigned char lost[], const rgi_process_table *table) {
  council.mine = node;
  council.lost = lost;
  council.table = table;
}

void rgi_council_close(void) {
  while (talks)
    talks = drop(talks);
}
