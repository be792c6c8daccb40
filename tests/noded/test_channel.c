/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Channels between the daemons of three to six nodes, all in one process with a clock of its own,
 * over connections, two between any two nodes, that come up, break, and lose what is under way, and
 * where ways of several daemons are of different length. Every message arrives once and in order;
 * what is acknowledged is not kept; and a daemon passes a relayed message on once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/check/check.h"

#include "channel_names.h"

double rgi_clock_now(void);

#include "noded/network/channel.c"

enum { NODES = 6, TURNS = 1500, PIECES = 4096, KIND = 17 };

typedef struct {
  int from, to, way; /* way: of two connections */
  size_t bytes;
  char *data;
} piece;

static struct {
  int n, now;
  double time;
  rgi_overlay overlay[NODES];
  __typeof__(channels) channels[NODES];
  int up[NODES][NODES];
  double down[NODES][NODES], heard[NODES][NODES];
  piece wire[PIECES];
  int pieces;
  int sent[NODES][NODES], came[NODES][NODES]; /* messages of the channels */
  int passed; /* pieces that the last one received was passed on as */
  int wrong;
} world;

static int any(int n) {
  return (int)(random() % n);
}

double rgi_clock_now(void) {
  return world.time;
}

static void enter(int at) {
  world.now = at;
  channels = world.channels[at];
}

static void leave(void) {
  world.channels[world.now] = channels;
}

/* --- what channel.c calls --------------------------------------------------------------------- */

void rgi_connection_make(int to) {
  if (!world.up[world.now][to] && world.down[world.now][to] == 0)
    world.down[world.now][to] = world.time;
}

int rgi_connection_is_up(int to) {
  return world.up[world.now][to];
}

double rgi_connection_down_since(int to) {
  return world.down[world.now][to];
}

void rgi_connection_note_heard(int from) {
  world.heard[world.now][from] = world.time;
}

static void put_piece(int to, const void *data, size_t bytes) {
  if (world.pieces == PIECES)
    return; /* lost */
  piece *p = &world.wire[world.pieces++];
  *p = (piece){world.now, to, any(10) == 0, bytes, malloc(bytes)};
  memcpy(p->data, data, bytes);
}

int rgi_connection_send(int to, uint32_t kind, const void *data, size_t bytes) {
  world.wrong += kind != RGI_CHANNEL_MESSAGE;
  if (world.up[world.now][to])
    put_piece(to, data, bytes);
  return world.up[world.now][to];
}

void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (int i = 0; i < world.n; i++)
    if (i != except && i != world.now)
      world.passed += rgi_connection_send(i, kind, data, bytes);
}

/* --- the wire --------------------------------------------------------------------------------- */

/* The messages of a channel are numbered; the length tells the number once more. */
static void receive(int from, uint32_t kind, const void *data, size_t bytes) {
  int number;
  world.wrong += kind != KIND || bytes < sizeof number;
  memcpy(&number, data, sizeof number);
  world.wrong += number != world.came[from][world.now]++;
  world.wrong += bytes != sizeof number + (size_t)(number % 50);
}

static void send_at(int from, int to) {
  char data[sizeof(int) + 50] = {0};
  int number = world.sent[from][to]++;
  memcpy(data, &number, sizeof number);
  enter(from);
  rgi_channel_send(to, KIND, data, sizeof number + (size_t)(number % 50));
  leave();
}

/* What is on one connection keeps its order. A relayed message may come again. */
static void deliver(int at, int again) {
  int first = at;
  for (int i = 0; i < at; i++)
    if (world.wire[i].from == world.wire[at].from && world.wire[i].to == world.wire[at].to &&
        world.wire[i].way == world.wire[at].way) {
      first = i;
      break;
    }
  piece p = world.wire[first];
  memmove(&world.wire[first], &world.wire[first + 1], (size_t)(--world.pieces - first) * sizeof p);
  for (int i = 0; i <= again; i++) {
    world.passed = 0;
    enter(p.to);
    rgi_channel_receive(p.from, p.data, p.bytes);
    leave();
    world.wrong += i > 0 && world.passed > 0; /* it was passed on before */
  }
  free(p.data);
}

static void drop_wire(int a, int b) {
  int kept = 0;
  for (int i = 0; i < world.pieces; i++) {
    piece *p = &world.wire[i];
    if ((p->from == a && p->to == b) || (p->from == b && p->to == a))
      free(p->data);
    else
      world.wire[kept++] = *p;
  }
  world.pieces = kept;
}

static void change_connection(int a, int b) {
  int up = world.up[a][b] = world.up[b][a] = !world.up[a][b];
  drop_wire(a, b);
  for (int i = 0; i < 2; i++) {
    int at = i ? b : a, to = i ? a : b;
    world.down[at][to] = up ? 0 : world.time;
    enter(at);
    if (up)
      rgi_channel_up(to);
    else
      rgi_channel_broken(to);
    leave();
  }
}

static void step_all(double seconds) {
  world.time += seconds;
  for (int i = 0; i < world.n; i++) {
    enter(i);
    rgi_channels_step();
    leave();
  }
}

static void make_turn(void) {
  int a = any(world.n), b = (a + 1 + any(world.n - 1)) % world.n;
  switch (any(10)) {
  case 0:
    change_connection(a, b);
    break;
  case 1:
    step_all(0.01 * any(30));
    break;
  case 2:
  case 3:
    send_at(a, b);
    break;
  default:
    if (world.pieces)
      deliver(any(world.pieces), any(4) == 0);
  }
}

/* --- runs ------------------------------------------------------------------------------------- */

static void open_world(int n) {
  memset(&world, 0, sizeof world);
  world.n = n;
  world.time = 100;
  for (int i = 0; i < n; i++) {
    world.overlay[i] = (rgi_overlay){.nodes = n, .mine = i};
    enter(i);
    RGT_TRUE(rgi_channels_open(&world.overlay[i], receive));
    leave();
    for (int k = 0; k < n; k++)
      world.up[i][k] = i != k;
  }
}

static int kept_by(int at) {
  int kept = 0;
  for (int i = 0; i < world.n; i++)
    kept += world.channels[at].peers[i].first != NULL;
  return kept;
}

static void close_world(void) {
  for (int i = 0; i < world.n; i++) {
    enter(i);
    rgi_channels_close();
    leave();
    for (int k = 0; k < i; k++)
      drop_wire(i, k);
  }
}

/* A ring is all that stays: what is not next to one another is reached by relays only. */
static void settle(int ring) {
  for (int a = 0; a < world.n; a++)
    for (int b = 0; b < a; b++)
      if (world.up[a][b] != (!ring || a - b == 1 || a - b == world.n - 1))
        change_connection(a, b);
  for (int i = 0; i < 400; i++) {
    while (world.pieces)
      deliver(any(world.pieces), 0);
    step_all(0.06);
  }
}

static int all_came(void) {
  int right = world.wrong == 0;
  for (int a = 0; a < world.n; a++) {
    right &= kept_by(a) == 0;
    for (int b = 0; b < world.n; b++)
      right &= world.sent[a][b] == world.came[a][b];
  }
  return right;
}

static void test_once(void) {
  int wrong = 0;
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < TURNS; i++) {
    open_world(3 + any(NODES - 2));
    for (int k = 0, turns = any(600); k < turns; k++)
      make_turn();
    settle(any(2));
    wrong += !all_came();
    close_world();
  }
  RGT_INT(wrong, 0);
}

/* A message from one end of a chain to the other is passed on by each daemon once, to its two
 * neighbours unless one is the sender; and so is its acknowledgement. */
static void test_relayed(void) {
  for (int n = 3; n <= NODES; n++) {
    open_world(n);
    for (int a = 0; a < n; a++)
      for (int b = 0; b < a - 1; b++)
        change_connection(a, b);
    step_all(DIAL_SECONDS + 0.1);
    send_at(0, n - 1);
    int moved = 0;
    for (; world.pieces; moved++)
      deliver(0, 0);
    RGT_INT(world.came[0][n - 1], 1);
    RGT_INT(moved, 2 * (n - 2));
    RGT_INT(kept_by(0), 1);
    step_all(ACK_SECONDS + 0.01);
    for (moved = 0; world.pieces; moved++)
      deliver(0, 0);
    RGT_INT(moved, 2 * (n - 2));
    RGT_INT(kept_by(0), 0);
    RGT_INT(world.wrong, 0);
    RGT_DBL(world.heard[0][n - 1], world.time, 0);
    RGT_DBL(world.channels[0].peers[n - 1].owed, 0, 0);
    close_world();
  }
}

/* Nothing is kept for a lost node, nor taken from it. */
static void test_dropped(void) {
  open_world(3);
  change_connection(0, 1);
  send_at(0, 1);
  RGT_INT(kept_by(0), 1);
  enter(0);
  rgi_channel_drop(1);
  leave();
  RGT_INT(kept_by(0), 0);
  send_at(0, 1);
  RGT_INT(kept_by(0), 0);
  send_at(1, 0);
  settle(0);
  RGT_INT(world.came[1][0], 0);
  close_world();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"once and in order", test_once},
                                   {"relayed", test_relayed},
                                   {"dropped", test_dropped},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "channel", tests);
}
