/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The council of up to nine nodes in one process, which are lost at any moment: between two
 * letters of the root's, too. Messages between two nodes keep their order, and the last ones
 * of a lost node may be lost with it. All that live decide, and the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

/* The council's own neighbours are the test's. */
#define rgi_arena_at arena_at
#define rgi_arena_free arena_give
#define rgi_process_table_ring ring
#define rgi_connection_send link_send
#define rgi_agreement_open council_open
#define rgi_agreement_propose council_request
#define rgi_agreement_receive council_hear
#define rgi_agreement_node_lost council_look
#define rgi_agreement_close council_close

#include "noded/agreement.c"

enum { NODES = 9, LETTERS = 400, TURNS = 3000, FIRST = 0x100, SIZE = 0x1000 };

typedef struct {
  uint32_t kind;
  size_t bytes;
  char *data;
} piece;

/* From one node to another, in order. */
typedef struct {
  piece of[LETTERS];
  int first, n;
} queue;

static struct {
  int n, all, now; /* now: whose council runs */
  agreement *agreements[NODES];
  char lost[NODES], asked[NODES];
  unsigned char known[NODES][NODES]; /* by the first that the second is lost */
  int letters;                       /* so many more the node may send */
  queue wire[NODES][NODES];
  uint64_t memory[NODES][SIZE / 8]; /* a round, the flags_at, and from FIRST on a motion */
} world;

/* --- what the council calls ---------------------------------------------------------------- */

void *rgi_arena_at(uint64_t offset) {
  return (char *)world.memory[world.now] + offset;
}

void rgi_arena_free(uint64_t offset, size_t bytes) {
  RGT_TRUE(offset == FIRST && bytes < SIZE - FIRST);
}

void rgi_process_table_ring(const rgi_process_table *t) {
  (void)t;
}

/* A node that ends has so many letters left. */
void rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes) {
  queue *q = &world.wire[world.now][node];
  if (world.lost[node] || world.letters == 0)
    return;
  world.letters -= world.letters > 0;
  piece p = {kind, bytes, malloc(bytes)};
  memcpy(p.data, data, bytes);
  RGT_TRUE(q->n < LETTERS);
  q->of[(q->first + q->n++) % LETTERS] = p;
}

/* --- one node ------------------------------------------------------------------------------- */

static void enter(int node) {
  world.now = node;
  agreements = world.agreements[node];
  rgi_agreement_open(node, world.known[node], NULL);
}

static void leave(void) {
  world.agreements[world.now] = agreements;
}

static rgi_agreement_round *meeting_of(int node) {
  return (void *)((char *)world.memory[node] + 8);
}

static unsigned char *flags_of(int node) {
  return (unsigned char *)world.memory[node] + 64;
}

/* As verdict_far.c does: every node has one member, and the rank is the node's. */
static void ask_at(int node) {
  int dead = 0, at = 0;
  enter(node);
  rgi_agreement_proposal *m = rgi_arena_at(FIRST);
  for (int i = 0; i < world.n; i++)
    dead += world.known[node][i];
  *m = (rgi_agreement_proposal){.group = 17,
                                .all = (uint32_t)world.all,
                                .word = ~(1u << node),
                                .failed = dead > 0,
                                .nodes = world.n,
                                .dead = world.all ? -1 : dead,
                                .accepted = -1,
                                .round_at = 8,
                                .flags_at = 64};
  for (int i = 0; i < world.n; i++) {
    rgi_agreement_nodes(m)[i] = i;
    rgi_agreement_states(m)[i] = i == node              ? RGI_AGREEMENT_VOTED
                                 : world.known[node][i] ? RGI_AGREEMENT_EMPTY
                                                        : 0;
    if (world.known[node][i] && !world.all)
      rgi_agreement_dead(m)[at++] = i;
  }
  rgi_agreement_propose(FIRST);
  world.asked[node] = 1;
  leave();
}

static void drop_first(queue *q) {
  free(q->of[q->first].data);
  q->first = (q->first + 1) % LETTERS;
  q->n--;
}

static int hear_at(int node, int from) {
  queue *q = &world.wire[from][node];
  if (q->n == 0 || world.lost[node])
    return 0;
  piece *p = &q->of[q->first];
  enter(node);
  rgi_agreement_receive(from, p->kind, p->data, p->bytes);
  leave();
  drop_first(q);
  return 1;
}

/* The connection is closed; what has not been read of it is gone. */
static int learn_at(int node, int of) {
  if (world.lost[node] || !world.lost[of] || world.known[node][of])
    return 0;
  while (world.wire[of][node].n)
    drop_first(&world.wire[of][node]);
  enter(node);
  world.known[node][of] = 1;
  rgi_agreement_node_lost();
  leave();
  return 1;
}

/* --- all of them ----------------------------------------------------------------------------- */

static int any(int n) {
  return (int)(random() % n);
}

/* Amid the letters that it would send for the next thing that it hears. */
static void lose(int node) {
  world.letters = any(3);
  for (int i = 0, from = any(world.n); i < world.n && !hear_at(node, (from + i) % world.n); i++)
    ;
  world.letters = -1;
  world.lost[node] = 1;
}

static int step(int node, int other) {
  switch (any(8)) {
  case 0:
    if (!world.lost[node] && !world.asked[node])
      ask_at(node);
    return 1;
  case 1:
    return learn_at(node, other);
  default:
    return hear_at(node, other);
  }
}

/* Until nothing happens any more. */
static void settle(void) {
  for (int moved = 1; moved;) {
    moved = 0;
    for (int i = 0; i < world.n; i++) {
      if (!world.lost[i] && !world.asked[i]) {
        ask_at(i);
        moved = 1;
      }
      for (int k = 0; k < world.n; k++)
        moved += hear_at(i, k) + learn_at(i, k);
    }
  }
}

static int same_verdict(int a, int b) {
  return meeting_of(a)->word == meeting_of(b)->word &&
         meeting_of(a)->deaths == meeting_of(b)->deaths &&
         memcmp(flags_of(a), flags_of(b), (size_t)world.n) == 0;
}

static int is_decided(int node) {
  return atomic_load(&meeting_of(node)->state) == RGI_AGREEMENT_DECIDED;
}

/* Whether all that live have one verdict. */
static int is_right(void) {
  int first = -1, right = 1;
  for (int i = 0; i < world.n; i++) {
    if (world.lost[i])
      continue;
    first = first < 0 ? i : first;
    right &= is_decided(i) && same_verdict(first, i);
  }
  return right;
}

static void clear(void) {
  for (int i = 0; i < world.n; i++) {
    enter(i);
    rgi_agreement_close();
    leave();
    for (int k = 0; k < world.n; k++)
      while (world.wire[i][k].n)
        drop_first(&world.wire[i][k]);
  }
}

static int one_turn(int all) {
  memset(&world, 0, sizeof world);
  world.n = 2 + any(NODES - 1);
  world.all = all;
  world.letters = -1;
  int lost = any(world.n), steps = 1 + any(40 * world.n), early = any(2);
  for (int i = 0; i < world.n && early; i++)
    ask_at(i);
  for (int i = 0; i < steps; i++) {
    int node = any(2) ? 0 : any(world.n); /* the root more often */
    step(any(world.n), any(world.n));
    if (lost && !world.lost[node] && any(steps) < 2 * lost) {
      lose(node);
      lost--;
    }
  }
  settle();
  int right = is_right();
  clear();
  return right;
}

static void many(int all) {
  int wrong = 0;
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < TURNS; i++)
    wrong += !one_turn(all);
  RGT_INT(wrong, 0);
}

static void test_all(void) {
  many(1);
}

static void test_first(void) {
  many(0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"all must speak", test_all}, {"the first one's dead", test_first}, {NULL, NULL}};
  return rgt_main(argc, argv, "council", tests);
}
