/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The daemons of up to nine nodes agree, all in one process; nodes are lost at any moment, also
 * between two messages of the root. Messages between two nodes keep their order, and the last ones
 * of a lost node may be lost with it. All nodes that live decide, and decide the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

/* agreement.c is compiled into this test, and calls the test's functions for these. */
#define rgi_arena_at test_arena_at
#define rgi_arena_free test_arena_free
#define rgi_process_table_ring test_table_ring
#define rgi_channel_send test_channel_send
#define rgi_agreement_open test_agreement_open
#define rgi_agreement_propose test_agreement_propose
#define rgi_agreement_receive test_agreement_receive
#define rgi_agreement_node_lost test_agreement_node_lost
#define rgi_agreement_close test_agreement_close

#include "noded/consensus/agreement.c"

enum { NODES = 9, MESSAGES = 400, TURNS = 3000, FIRST = 0x100, SIZE = 0x1000 };

typedef struct {
  uint32_t kind;
  size_t bytes;
  char *data;
} piece;

/* From one node to another, in order. */
typedef struct {
  piece of[MESSAGES];
  int first, n;
} queue;

static struct {
  int n, all, now; /* now: the node whose daemon runs */
  group_agreement *agreements[NODES];
  forgotten_group *forgotten[NODES];
  int round, sent, group;
  char lost[NODES], proposed[NODES];
  char empty[NODES];                 /* no member of the node lives */
  unsigned char known[NODES][NODES]; /* whether the first knows that the second is lost */
  int messages_left;                 /* so many more the node may send; -1: any number */
  queue wire[NODES][NODES];
  uint64_t memory[NODES][SIZE / 8]; /* a round, flags, and from FIRST on a proposal */
} world;

/* --- what agreement.c calls ---------------------------------------------------------------- */

void *rgi_arena_at(uint64_t offset) {
  return (char *)world.memory[world.now] + offset;
}

void rgi_arena_free(uint64_t offset, size_t bytes) {
  RGT_TRUE(offset == FIRST && bytes < SIZE - FIRST);
}

void rgi_process_table_ring(const rgi_process_table *table) {
  (void)table;
}

/* A node that is being lost sends so many more messages. */
void rgi_channel_send(int node, uint32_t kind, const void *data, size_t bytes) {
  queue *q = &world.wire[world.now][node];
  RGT_TRUE(node >= 0 && node < world.n);
  if (world.lost[node] || world.messages_left == 0)
    return;
  world.sent++;
  world.messages_left -= world.messages_left > 0;
  piece p = {kind, bytes, malloc(bytes)};
  memcpy(p.data, data, bytes);
  RGT_TRUE(q->n < MESSAGES);
  q->of[(q->first + q->n++) % MESSAGES] = p;
}

/* --- one node ------------------------------------------------------------------------------- */

static void enter(int node) {
  world.now = node;
  agreements = world.agreements[node];
  forgotten = world.forgotten[node];
  rgi_agreement_open(world.n, node, world.known[node], NULL);
}

static void leave(void) {
  world.agreements[world.now] = agreements;
  world.forgotten[world.now] = forgotten;
}

static rgi_agreement_round *round_of(int node) {
  return (void *)((char *)world.memory[node] + 8);
}

static unsigned char *flags_of(int node) {
  return (unsigned char *)world.memory[node] + 64;
}

static int is_decided(int node) {
  return atomic_load(&round_of(node)->state) == RGI_AGREEMENT_DECIDED;
}

/* As group_decision.c does: every node has one member, whose rank is the node's index. */
static void propose_at(int node) {
  int dead = 0, at = 0;
  enter(node);
  rgi_agreement_proposal *m = rgi_arena_at(FIRST);
  for (int i = 0; i < world.n; i++)
    dead += world.known[node][i];
  *m = (rgi_agreement_proposal){.group = (uint64_t)world.group,
                                .round = (uint32_t)world.round,
                                .all = (uint32_t)world.all,
                                .word = ~(1u << node),
                                .failed = dead > 0,
                                .nodes = world.n,
                                .dead = world.all ? -1 : dead,
                                .members = world.n,
                                .accepted = -1,
                                .round_at = 8,
                                .flags_at = 64};
  for (int i = 0; i < world.n; i++) {
    rgi_agreement_nodes(m)[i] = i;
    rgi_agreement_states(m)[i] = i == node                                ? RGI_AGREEMENT_VOTED
                                 : world.known[node][i] || world.empty[i] ? RGI_AGREEMENT_EMPTY
                                                                          : 0;
    if (world.known[node][i] && !world.all)
      rgi_agreement_dead(m)[at++] = i;
  }
  rgi_agreement_propose(FIRST);
  world.proposed[node] = 1;
  leave();
}

static void drop_first(queue *q) {
  free(q->of[q->first].data);
  q->first = (q->first + 1) % MESSAGES;
  q->n--;
}

static int receive_at(int node, int from) {
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

/* The connection is closed; messages that have not been read are gone. */
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

/* While it sends messages in answer to the next one that it receives. */
static void lose(int node) {
  world.messages_left = any(3);
  for (int i = 0, from = any(world.n); i < world.n && !receive_at(node, (from + i) % world.n); i++)
    ;
  world.messages_left = -1;
  world.lost[node] = 1;
}

static int may_propose(int node) {
  return !world.lost[node] && !world.proposed[node] && !world.empty[node];
}

/* The node's members die. The other nodes propose once more, unless they know the decision: then
 * some do. */
static void empty_node(int node) {
  world.empty[node] = 1;
  for (int i = 0; i < world.n; i++)
    world.proposed[i] = world.proposed[i] && is_decided(i) && any(2);
}

static int make_step(int node, int other) {
  switch (any(8)) {
  case 0:
    if (may_propose(node))
      propose_at(node);
    if (world.all && any(20) == 0)
      empty_node(node);
    return 1;
  case 1:
    return learn_at(node, other);
  default:
    return receive_at(node, other);
  }
}

/* Until nothing happens any more. */
static void settle(void) {
  for (int moved = 1; moved;) {
    moved = 0;
    for (int i = 0; i < world.n; i++) {
      if (may_propose(i)) {
        propose_at(i);
        moved = 1;
      }
      for (int k = 0; k < world.n; k++)
        moved += receive_at(i, k) + learn_at(i, k);
    }
  }
}

static int same_decision(int a, int b) {
  return round_of(a)->word == round_of(b)->word && round_of(a)->deaths == round_of(b)->deaths &&
         memcmp(flags_of(a), flags_of(b), (size_t)world.n) == 0;
}

static int has_members(void) {
  int members = 0;
  for (int i = 0; i < world.n; i++)
    members += !world.lost[i] && !world.empty[i];
  return members;
}

/* Whether nodes that live keep nothing of agreements in which every node votes. Where no member
 * lives one may not come to its end. */
static int is_forgotten_everywhere(void) {
  int kept = 0;
  for (int i = 0; i < world.n; i++)
    kept += !world.lost[i] && world.all && world.agreements[i];
  return !kept || !has_members();
}

/* Whether all nodes with members that live have the same decision. */
static int is_right(void) {
  int first = -1, right = 1;
  for (int i = 0; i < world.n; i++) {
    if (world.lost[i] || world.empty[i])
      continue;
    first = first < 0 ? i : first;
    right &= is_decided(i) && same_decision(first, i);
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

/* A new round of the group that has these nodes. */
static void begin_round(void) {
  world.round++;
  memset(world.memory, 0, sizeof world.memory);
  memset(world.proposed, 0, sizeof world.proposed);
}

/* Proposals that ranks repeated are late: all has been told and forgotten, and the memory of the
 * round is in other use. */
static int is_quiet_later(void) {
  memset(world.memory, 0, sizeof world.memory);
  for (int i = 0; i < world.n; i++)
    if (!world.lost[i] && world.proposed[i])
      propose_at(i);
  settle();
  int quiet = is_forgotten_everywhere();
  for (int i = 0; i < world.n; i++)
    quiet &= !is_decided(i);
  return quiet;
}

/* The loss of the first node that lives; returns how many messages follow. */
static int lose_root(void) {
  int root = 0, before = world.sent;
  while (root < world.n - 1 && world.lost[root])
    root++;
  world.lost[root] = 1;
  settle();
  return world.sent - before;
}

static void run_round(void) {
  int lost = any(world.n), steps = 1 + any(40 * world.n), early = any(2);
  for (int i = 0; i < world.n && early; i++)
    if (may_propose(i))
      propose_at(i);
  for (int i = 0; i < steps; i++) {
    int node = any(2) ? 0 : any(world.n); /* the root more often */
    make_step(any(world.n), any(world.n));
    if (lost && !world.lost[node] && any(steps) < 2 * lost) {
      lose(node);
      lost--;
    }
  }
  settle();
}

static void begin_world(int n, int all) {
  memset(&world, 0, sizeof world);
  world.n = n;
  world.all = all;
  world.group = 17;
  world.messages_left = -1;
}

static int one_turn(int all) {
  begin_world(2 + any(NODES - 1), all);
  int right = 1;
  for (int rounds = 1 + any(3); rounds > 0 && right; rounds--) {
    begin_round();
    run_round();
    right = is_right() && is_forgotten_everywhere();
  }
  right = right && (!all || !has_members() || (is_quiet_later() && lose_root() == 0));
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

/* Two messages up and two down between two neighbours of the tree; none after the loss of the root,
 * however many agreements there were. The memory of forgotten groups is bounded. */
static void test_messages(void) {
  enum { ROUNDS = 2 * FORGOTTEN };
  begin_world(NODES, 1);
  for (int i = 0; i < ROUNDS; i++) {
    begin_round();
    world.group = i % 3 ? 17 : 100 + i;
    settle();
    RGT_TRUE(is_right() && is_forgotten_everywhere());
  }
  RGT_INT(world.sent, ROUNDS * 4 * (NODES - 1));
  RGT_INT(lose_root(), 0);
  RGT_INT(lose_root(), 0);
  begin_round();
  settle();
  RGT_TRUE(is_right() && is_forgotten_everywhere());
  clear();
}

/* --- messages that no daemon sends ----------------------------------------------------------- */

enum { WRONG_NODES = 3, WRONG_BYTES = 1024 };

/* Proposal, decision, prepare and promise of node 1 about the agreement of three nodes, with the
 * lists as given. */
static void send_wrong(const int nodes[WRONG_NODES], int dead, const int list[], int members) {
  union {
    rgi_agreement_proposal proposal;
    char bytes[WRONG_BYTES];
  } m = {.proposal = {.group = 17,
                      .word = 1,
                      .nodes = WRONG_NODES,
                      .dead = dead,
                      .members = members,
                      .accepted = 0}};
  memcpy(rgi_agreement_nodes(&m.proposal), nodes, WRONG_NODES * sizeof *nodes);
  for (int i = 0; i < dead; i++)
    rgi_agreement_dead(&m.proposal)[i] = list[i];
  enter(0);
  for (uint32_t kind = 0; kind <= MESSAGE_FORGET + 1; kind++)
    rgi_agreement_receive(1, kind, &m, rgi_agreement_bytes(WRONG_NODES, dead));
  leave();
}

/* Notices about what this node does not know. */
static void send_notices(void) {
  const agreement_notice m = {.group = 17};
  enter(0);
  for (size_t bytes = 0; bytes <= sizeof m; bytes++) {
    rgi_agreement_receive(1, MESSAGE_DONE, &m, bytes);
    rgi_agreement_receive(1, MESSAGE_FORGET, &m, bytes);
  }
  leave();
}

/* They change nothing: no memory beyond the flags, nothing is kept, and the decision is right. */
static void test_wrong(void) {
  static const int right[] = {0, 1, 2},
                   nodes[][WRONG_NODES] = {{0, 1, -1}, {0, 1, 3}, {0, 1, 1 << 30},
                                           {-7, 1, 2}, {0, 2, 2}, {2, 1, 1}},
                   dead[] = {-1, 3, 100, 1 << 30, -(1 << 30)};
  begin_world(WRONG_NODES, 0);
  for (int proposed = 0; proposed < 2; proposed++) {
    for (int i = 0; i < 6; i++)
      send_wrong(nodes[i], 0, NULL, WRONG_NODES);
    for (int i = 0; i < 5; i++)
      send_wrong(right, 1, &dead[i], WRONG_NODES);
    send_wrong(right, 4, (const int[]){0, 1, 2, 0}, WRONG_NODES);
    send_notices();
    RGT_TRUE(proposed || (!world.agreements[0] && !world.forgotten[0] && world.sent == 0));
    send_wrong(right, 1, (const int[]){40}, 41); /* another agreement */
    if (!proposed)
      propose_at(0);
  }
  settle();
  RGT_TRUE(is_right());
  for (int i = 0; i < 100; i++)
    RGT_INT(flags_of(0)[i], 0);
  clear();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"every node votes", test_all},
                                   {"the first list of dead", test_first},
                                   {"messages", test_messages},
                                   {"wrong messages", test_wrong},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "agreement", tests);
}
