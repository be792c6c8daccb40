/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A network of node daemons in one process, with a clock of its own: presence.c, ballot.c and
 * channel.c as they are, compiled into the test, and connections that behave as those of
 * connection.c do. The state of the three is kept for each node, and put in their place while that
 * node's daemon runs.
 *
 * A path between two nodes may be cut: then what is sent on it is held, and arrives when the path
 * is whole again, at once or late, unless a fresh connection has come up before. It may be closed:
 * then calls are refused although both hosts live. A daemon may be stopped, killed on a living
 * host, or silent with its host. */
#ifndef RGT_DAEMON_NETWORK_H
#define RGT_DAEMON_NETWORK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "noded/overlay.h"

/* The three call the test's functions for these, and are not those of the library. */
#include "channel_names.h"
#define rgi_connection_heard test_connection_heard
#define rgi_connection_was_heard test_connection_was_heard
#define rgi_connection_confirmed test_connection_confirmed
#define rgi_connections_ping_seconds test_connections_ping_seconds
#define rgi_witness_ask test_witness_ask
#define rgi_ballot_open test_ballot_open
#define rgi_ballot_close test_ballot_close
#define rgi_ballot_judge test_ballot_judge
#define rgi_ballot_has_lowest test_ballot_has_lowest
#define rgi_presence_open test_presence_open
#define rgi_presence_close test_presence_close
#define rgi_presence_refused test_presence_refused
#define rgi_presence_receive test_presence_receive
#define rgi_presence_learn test_presence_learn
#define rgi_presence_step test_presence_step
#define rgi_presence_timeout test_presence_timeout
#define rgi_presence_is_disturbed test_presence_is_disturbed

double rgi_clock_now(void);

/* Functions of the same name in two of them. */
#define is_silent is_silent_in_ballot
#define is_cut is_cut_in_ballot
#include "noded/ballot.c"
#undef is_silent
#undef is_cut
#define send_message send_in_channel
#include "noded/channel.c"
#undef send_message
#include "noded/presence.c"

enum { NODES = 9, CONNECTIONS = 16, DECISIONS = NODES + 1, FACTS = 64 };

typedef enum { RUNNING, STOPPED, KILLED, OFF, GIVEN_UP, FINISHED } node_state;

/* Kinds of pieces on a connection beside PING, FACT and RGI_CHANNEL_MESSAGE. */
enum {
  PIECE_PING,
  PIECE_FACT,
  PIECE_HELLO = 100,
  PIECE_ANSWER,
  PIECE_PROOF,
  PIECE_REFUSED,
  PIECE_END
};

typedef struct piece {
  struct piece *next;
  double at;
  uint32_t kind;
  size_t bytes;
  char data[];
} piece;

typedef struct {
  piece *first, *last;
  double held; /* until when */
} stream;

typedef enum { SIDE_NONE, SIDE_DIALING, SIDE_STRANGER, SIDE_UP, SIDE_CLOSED } side_state;

/* Side 0 has dialled. */
typedef struct connection {
  struct connection *next;
  int node[2];
  side_state state[2];
  double received[2], pinged[2];
  stream to[2];
  double tried, call; /* when it was last dialled; when that call comes to the other host */
} connection;

/* What a daemon knows of another one: the names are those of connection.c. */
typedef struct {
  int wanted, was_heard;
  double heard, down, direct, clock, confirmed;
  connection *dial;
} peer;

typedef struct {
  node_state state;
  rgi_overlay overlay;
  __typeof__(here) here;
  __typeof__(channels) channels;
  peer peers[NODES];
  unsigned char lost[NODES], end_heard[NODES], left[NODES];
  rgi_overlay_fact facts[FACTS];
  int n, joined, given_up, done,
      ended; /* n: facts; done: the application here has come to its end */
  double stepped, wake, ended_at, decided_at;
  double waits;                            /* since when a rank waits; INFINITY: none does */
  unsigned char applied[DECISIONS][NODES]; /* who was lost after each decision */
  const char *why;
} host;

static struct {
  int n, now;
  double time, latency, jitter;
  host of[NODES];
  connection *first;
  int cuts[NODES][NODES], closed[NODES][NODES]; /* closed: calls are refused on the way */
  double cut_at[NODES][NODES];
  int holder[DECISIONS], witness_hidden[NODES]; /* holder: node plus 1 */
} world;

static int any(int n) {
  return (int)(random() % n);
}

static double part(double seconds) {
  return seconds * (double)any(1 << 20) / (1 << 20);
}

double rgi_clock_now(void) {
  return world.time;
}

/* --- connections ------------------------------------------------------------------------------ */

static host *me(void) {
  return &world.of[world.now];
}

static int side_of(const connection *c, int at) {
  return c->node[1] == at;
}

static int is_mine(const connection *c) {
  return c->node[0] == world.now || c->node[1] == world.now;
}

static double limit_of(void) {
  return me()->overlay.limit;
}

double rgi_connections_ping_seconds(void) {
  return fmin(limit_of() / 8, 0.5);
}

static void wake_at(int at, double time) {
  if (world.of[at].state == RUNNING && time < world.of[at].wake)
    world.of[at].wake = time + part(world.jitter);
}

/* To the other side. */
static void put_piece(connection *c, int side, uint32_t kind, const void *data, size_t bytes) {
  stream *s = &c->to[!side];
  piece *p = malloc(sizeof *p + bytes);
  *p = (piece){.at = world.time + 1e-4 + part(world.latency), .kind = kind, .bytes = bytes};
  if (bytes)
    memcpy(p->data, data, bytes);
  if (s->first) {
    p->at = fmax(p->at, s->last->at);
    s->last->next = p;
  } else {
    s->first = p;
  }
  s->last = p;
  wake_at(c->node[!side], fmax(p->at, s->held));
}

static void drop_pieces(stream *s) {
  for (piece *p; (p = s->first); free(p))
    s->first = p->next;
}

static int is_suspect(const connection *c, int side) {
  return world.time - c->received[side] > limit_of() / 3;
}

static connection *connection_to(int to) {
  for (connection *c = world.first; c; c = c->next) {
    int side = side_of(c, world.now);
    if (is_mine(c) && c->node[!side] == to && c->state[side] == SIDE_UP && !is_suspect(c, side))
      return c;
  }
  return NULL;
}

static void close_side(connection *c, int side) {
  if (c->state[side] == SIDE_DIALING && world.of[c->node[0]].peers[c->node[1]].dial == c)
    world.of[c->node[0]].peers[c->node[1]].dial = NULL;
  c->state[side] = SIDE_CLOSED;
  drop_pieces(&c->to[side]);
  put_piece(c, side, PIECE_END, NULL, 0);
}

static void on_broken(int to) {
  if (!me()->lost[to])
    rgi_channel_broken(to);
}

static void break_side(connection *c, int side) {
  int was_up = c->state[side] == SIDE_UP;
  close_side(c, side);
  if (was_up)
    on_broken(c->node[!side]);
}

static void note_received(connection *c, int side) {
  peer *p = &me()->peers[c->node[!side]];
  c->received[side] = p->heard = p->direct = world.time;
  p->was_heard = 1;
}

static void queue_piece(connection *c, int side, uint32_t kind, const void *data, size_t bytes) {
  put_piece(c, side, kind, data, bytes);
}

static void send_ping(connection *c, int side) {
  double clocks[2] = {world.time, me()->peers[c->node[!side]].clock};
  c->pinged[side] = world.time;
  queue_piece(c, side, PIECE_PING, clocks, sizeof clocks);
}

static void on_up(int to);

static void come_up(connection *c, int side) {
  int to = c->node[!side];
  for (connection *o = world.first; o; o = o->next) {
    int s = side_of(o, world.now);
    if (is_mine(o) && o->node[!s] == to && o->state[s] == SIDE_UP && is_suspect(o, s))
      break_side(o, s);
  }
  if (c->state[side] == SIDE_DIALING)
    me()->peers[to].dial = NULL;
  c->state[side] = SIDE_UP;
  me()->peers[to].down = 0;
  c->pinged[side] = world.time;
  note_received(c, side);
  send_ping(c, side);
  on_up(to);
}

static connection *new_connection(int from, int to) {
  connection *c = calloc(1, sizeof *c);
  *c = (connection){.next = world.first,
                    .node = {from, to},
                    .state = {SIDE_DIALING, SIDE_NONE},
                    .call = INFINITY};
  world.first = c;
  return c;
}

static void try_dial(connection *c) {
  c->tried = world.time;
  c->call = world.time + 1e-4 + part(world.latency);
}

static void dial_node(int to) {
  peer *p = &me()->peers[to];
  if (p->dial || connection_to(to))
    return;
  p->dial = new_connection(world.now, to);
  if (p->down == 0)
    p->down = p->direct > 0 ? p->direct : world.time;
  try_dial(p->dial);
}

/* The call comes to the other host, whose kernel takes it for a stopped daemon, too. */
static void take_call(connection *c) {
  int from = c->node[0], to = c->node[1];
  node_state s = world.of[to].state;
  c->call = INFINITY;
  if (world.cuts[from][to] || c->state[0] != SIDE_DIALING || s == OFF)
    return;
  if ((s == RUNNING || s == STOPPED) && !world.closed[from][to]) {
    c->state[1] = SIDE_STRANGER;
    put_piece(c, 0, PIECE_HELLO, NULL, 0);
  } else {
    put_piece(c, 1, PIECE_REFUSED, NULL, 0);
  }
}

static void redial(connection *c) {
  peer *p = &me()->peers[c->node[1]];
  close_side(c, 0);
  p->dial = new_connection(c->node[0], c->node[1]);
  try_dial(p->dial);
}

/* --- what presence.c and channel.c call ------------------------------------------------------- */

void rgi_connection_make(int to) {
  peer *p = &me()->peers[to];
  if (p->wanted)
    return;
  p->wanted = 1;
  p->heard = p->heard > 0 ? p->heard : world.time;
  dial_node(to);
}

int rgi_connection_is_up(int to) {
  return connection_to(to) != NULL;
}

double rgi_connection_down_since(int to) {
  return connection_to(to) ? 0 : me()->peers[to].down;
}

double rgi_connection_heard(int to) {
  return me()->peers[to].heard;
}

void rgi_connection_note_heard(int to) {
  me()->peers[to].heard = world.time;
  me()->peers[to].was_heard = 1;
}

int rgi_connection_was_heard(int to) {
  return me()->peers[to].was_heard;
}

double rgi_connection_confirmed(int to) {
  return me()->peers[to].confirmed;
}

int rgi_connection_send(int to, uint32_t kind, const void *data, size_t bytes) {
  connection *c = connection_to(to);
  if (c)
    queue_piece(c, side_of(c, world.now), kind, data, bytes);
  return c != NULL;
}

void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (connection *c = world.first; c; c = c->next) {
    int side = side_of(c, world.now);
    if (is_mine(c) && c->state[side] == SIDE_UP && c->node[!side] != except)
      queue_piece(c, side, kind, data, bytes);
  }
}

static void drop_node(int of) {
  peer *p = &me()->peers[of];
  p->wanted = 0;
  p->down = 0;
  if (p->dial)
    close_side(p->dial, 0);
}

int rgi_witness_ask(const char *path, uint64_t job, uint32_t number, int asks) {
  (void)path;
  (void)job;
  if (world.witness_hidden[asks])
    return RGI_WITNESS_FAILED;
  if (any(3))
    return RGI_WITNESS_PENDING;
  if (!world.holder[number])
    world.holder[number] = asks + 1;
  return world.holder[number] - 1;
}

/* --- a daemon: as daemon.c -------------------------------------------------------------------- */

static void enter(int at) {
  world.now = at;
  here = world.of[at].here;
  channels = world.of[at].channels;
}

static void leave(void) {
  world.of[world.now].here = here;
  world.of[world.now].channels = channels;
}

static void connect_neighbours(void) {
  for (int step = 1; step < world.n; step *= 2) {
    int to = (world.now + step) % world.n;
    while (me()->lost[to] && to != world.now)
      to = (to + 1) % world.n;
    if (to != world.now)
      rgi_connection_make(to);
  }
}

static void lose_node(int of) {
  me()->lost[of] = 1;
  if (of == world.now) {
    me()->why = me()->given_up || me()->ended ? me()->why : "given up by the others";
    me()->given_up = !me()->ended;
    return;
  }
  me()->left[of] = 1;
  drop_node(of);
  rgi_channel_drop(of);
  connect_neighbours();
}

/* So many decisions have been made: the nodes of the last one. */
static void apply_decision(uint64_t decisions) {
  uint64_t n = (uint64_t)world.n;
  for (int i = 0; i < me()->n; i++) {
    rgi_overlay_fact f = me()->facts[i];
    if (f.kind == RGI_FACT_LOST && f.value / n == decisions - 1)
      lose_node((int)(f.value % n));
  }
  rgi_presence_learn((uint32_t)decisions);
  memcpy(me()->applied[decisions], me()->lost, sizeof me()->lost);
  me()->decided_at = world.time;
}

static void apply_fact(const rgi_overlay_fact *f) {
  if (f->kind == RGI_FACT_DECIDED) {
    apply_decision(f->value);
  } else if (f->kind == RGI_FACT_LEFT) {
    me()->left[f->value] = 1;
  } else if (f->kind == RGI_FACT_ENDED) {
    me()->ended = 1;
    me()->ended_at = world.time;
  }
}

static void learn_fact(uint64_t kind, uint64_t value, int from) {
  rgi_overlay_fact f = {kind, value};
  if (from >= 0 && kind == RGI_FACT_LEFT && value == (uint64_t)world.now)
    return;
  for (int i = 0; i < me()->n; i++)
    if (me()->facts[i].kind == kind && me()->facts[i].value == value)
      return;
  me()->facts[me()->n++] = f;
  rgi_connection_send_all(kind == RGI_FACT_ENDED ? -1 : from, PIECE_FACT, &f, sizeof f);
  apply_fact(&f);
}

static void on_up(int to) {
  for (int i = 0; i < me()->n; i++)
    rgi_connection_send(to, PIECE_FACT, &me()->facts[i], sizeof me()->facts[i]);
  if (!me()->lost[to])
    rgi_channel_up(to);
}

static void on_received(int from, const piece *p) {
  rgi_overlay_fact f;
  if (me()->lost[from] || me()->given_up)
    return;
  if (p->kind == RGI_CHANNEL_MESSAGE)
    rgi_channel_receive(from, p->data, p->bytes);
  if (p->kind != PIECE_FACT)
    return;
  memcpy(&f, p->data, sizeof f);
  me()->end_heard[from] |= f.kind == RGI_FACT_ENDED;
  learn_fact(f.kind, f.value, from);
}

static void on_decided(uint32_t number, const unsigned char set[]) {
  uint64_t n = (uint64_t)world.n;
  for (uint64_t i = 0; i < n; i++)
    if (set[i])
      learn_fact(RGI_FACT_LOST, i + n * number, -1);
  learn_fact(RGI_FACT_DECIDED, number + 1, -1);
}

static void on_ended(const char *why) {
  if (me()->given_up || me()->ended)
    return;
  me()->given_up = 1;
  me()->why = why;
}

static void receive_ping(connection *c, int side, const piece *p) {
  peer *of = &me()->peers[c->node[!side]];
  double clocks[2];
  memcpy(clocks, p->data, sizeof clocks);
  int first = of->clock == 0;
  of->clock = fmax(of->clock, clocks[0]);
  of->confirmed = fmax(of->confirmed, clocks[1]);
  if (first)
    send_ping(c, side);
}

static void take_piece(connection *c, int side, const piece *p) {
  int from = c->node[!side];
  if (c->state[side] == SIDE_CLOSED)
    return;
  if (p->kind == PIECE_END) {
    break_side(c, side);
  } else if (p->kind == PIECE_REFUSED) {
    if (!me()->ended && !me()->lost[from])
      rgi_presence_refused(from);
  } else if (p->kind == PIECE_HELLO) {
    put_piece(c, side, PIECE_ANSWER, NULL, 0);
  } else if (p->kind == PIECE_ANSWER) {
    put_piece(c, side, PIECE_PROOF, NULL, 0);
    come_up(c, side);
  } else if (p->kind == PIECE_PROOF) {
    come_up(c, side);
  } else {
    note_received(c, side);
    if (p->kind == PIECE_PING)
      receive_ping(c, side, p);
    else
      on_received(from, p);
  }
}

/* Whether something waits to be read; sees that the daemon wakes when there will be. */
static int can_read(const connection *c, int side) {
  const stream *s = &c->to[side];
  if (!s->first || world.cuts[c->node[0]][c->node[1]])
    return 0;
  double at = fmax(s->first->at, s->held);
  if (at > world.time)
    wake_at(c->node[side], at);
  return at <= world.time;
}

static void read_all(connection *c, int side) {
  while (can_read(c, side)) {
    stream *s = &c->to[side];
    piece *p = s->first;
    s->first = p->next;
    take_piece(c, side, p);
    free(p);
  }
}

/* A connection that nothing goes through for the limit is ended by the kernel. */
static int is_timed_out(const connection *c, int side) {
  const stream *s = &c->to[!side];
  return s->first && world.time - s->first->at > limit_of() &&
         (world.cuts[c->node[0]][c->node[1]] || world.of[c->node[!side]].state == OFF);
}

static void advance_time(connection *c, int side) {
  double answer = fmin(limit_of() / 8, 3.0);
  if (c->state[side] == SIDE_UP && is_timed_out(c, side))
    break_side(c, side);
  else if (c->state[side] == SIDE_UP &&
           world.time - c->pinged[side] >= rgi_connections_ping_seconds())
    send_ping(c, side);
  else if (c->state[side] == SIDE_DIALING && world.time - c->tried > answer)
    redial(c);
  else if (c->state[side] == SIDE_DIALING && c->state[1] == SIDE_NONE && isinf(c->call) &&
           !world.cuts[c->node[0]][c->node[1]] && world.of[c->node[1]].state != OFF &&
           (world.of[c->node[1]].state >= KILLED || world.closed[c->node[0]][c->node[1]]) &&
           world.time - c->tried > 0.01)
    try_dial(c); /* it was refused */
}

static double connections_timeout(void) {
  double ping = rgi_connections_ping_seconds() / 2;
  for (int i = 0; i < world.n; i++)
    if (me()->peers[i].dial)
      return fmin(ping, 0.1);
  return ping;
}

/* Times in which the daemon was stopped do not count. */
static void forgive_delay(void) {
  double late = world.time - me()->stepped - connections_timeout();
  if (me()->stepped > 0 && late > limit_of() / 4) {
    for (connection *c = world.first; c; c = c->next)
      if (is_mine(c))
        c->received[side_of(c, world.now)] += late;
    for (int i = 0; i < world.n; i++) {
      peer *p = &me()->peers[i];
      p->heard += p->heard > 0 ? late : 0;
      p->down += p->down > 0 ? late : 0;
      p->direct += p->direct > 0 ? late : 0;
    }
  }
  me()->stepped = world.time;
}

static void forget_closed(void) {
  for (connection **at = &world.first; *at;) {
    connection *c = *at;
    if (!isinf(c->call) || (c->state[0] != SIDE_CLOSED) ||
        (c->state[1] != SIDE_CLOSED && c->state[1] != SIDE_NONE)) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    drop_pieces(&c->to[0]);
    drop_pieces(&c->to[1]);
    free(c);
  }
}

static void step_connections(void) {
  forgive_delay();
  for (connection *c = world.first; c; c = c->next)
    if (is_mine(c))
      read_all(c, side_of(c, world.now));
  for (connection *c = world.first; c; c = c->next)
    if (is_mine(c))
      advance_time(c, side_of(c, world.now));
  for (int i = 0; i < world.n; i++)
    if (me()->peers[i].wanted)
      dial_node(i);
}

/* The process is gone; its host answers for it, or is gone, too. */
static void end_daemon(int at, node_state how) {
  host *n = &world.of[at];
  if (n->state > STOPPED)
    return;
  n->state = how;
  n->wake = INFINITY;
  for (connection *c = world.first; c && how != OFF; c = c->next)
    if ((c->node[0] == at || c->node[1] == at) && c->state[side_of(c, at)] != SIDE_NONE &&
        c->state[side_of(c, at)] != SIDE_CLOSED)
      close_side(c, side_of(c, at));
}

static int all_neighbours_up(void) {
  for (int i = 0; i < world.n; i++)
    if (me()->peers[i].wanted && !rgi_connection_is_up(i))
      return 0;
  return 1;
}

static int is_needed(void) {
  if (world.time - me()->ended_at > 2.0)
    return 0;
  for (int i = 0; i < world.n; i++)
    if (!me()->lost[i] && rgi_connection_is_up(i) && !me()->end_heard[i])
      return 1;
  return 0;
}

static void check_end(void) {
  int left = 1;
  if (!me()->done)
    return;
  learn_fact(RGI_FACT_LEFT, (uint64_t)world.now, -1);
  for (int i = 0; i < world.n; i++)
    left &= me()->left[i];
  if (left)
    learn_fact(RGI_FACT_ENDED, 0, -1);
}

static double next_step(void) {
  double t = connections_timeout(), c = rgi_channels_timeout(), p = rgi_presence_timeout();
  t = c >= 0 ? fmin(t, c) : t;
  return world.time + (p >= 0 ? fmin(t, p) : t);
}

static void step_daemon(int at) {
  enter(at);
  me()->wake = INFINITY;
  step_connections();
  rgi_channels_step();
  me()->joined |= all_neighbours_up();
  if (me()->joined && !me()->ended)
    rgi_presence_step(fmax(0, world.time - me()->waits));
  check_end();
  wake_at(at, next_step());
  for (connection *c = world.first; c; c = c->next)
    if (is_mine(c))
      can_read(c, side_of(c, at));
  leave();
  if (me()->given_up)
    end_daemon(at, GIVEN_UP);
  else if (me()->ended && me()->done && !is_needed())
    end_daemon(at, FINISHED);
}

/* --- faults ----------------------------------------------------------------------------------- */

static void cut_path(int a, int b) {
  if (a == b)
    return;
  if (!world.cuts[a][b])
    world.cut_at[a][b] = world.cut_at[b][a] = world.time;
  world.cuts[a][b]++;
  world.cuts[b][a]++;
}

/* What was held comes when the kernel tries again, after a pause up to that of the cut. */
static void heal_path(int a, int b) {
  if (a == b)
    return;
  world.cuts[b][a]--;
  if (--world.cuts[a][b])
    return;
  for (connection *c = world.first; c; c = c->next)
    if ((c->node[0] == a && c->node[1] == b) || (c->node[0] == b && c->node[1] == a))
      for (int side = 0; side < 2; side++) {
        c->to[side].held = world.time + part(world.time - world.cut_at[a][b]);
        can_read(c, side);
      }
}

static void stop_daemon(int at) {
  if (world.of[at].state == RUNNING)
    world.of[at].state = STOPPED;
  world.of[at].wake = INFINITY;
}

static void continue_daemon(int at) {
  if (world.of[at].state != STOPPED)
    return;
  world.of[at].state = RUNNING;
  wake_at(at, world.time);
}

/* Both sides get an end of file, and what was under way is lost. */
static void reset_connections(int a, int b) {
  for (connection *c = world.first; c; c = c->next)
    if ((c->node[0] == a && c->node[1] == b) || (c->node[0] == b && c->node[1] == a))
      for (int side = 0; side < 2; side++)
        if (c->state[side] == SIDE_UP) {
          drop_pieces(&c->to[side]);
          put_piece(c, !side, PIECE_END, NULL, 0);
        }
}

/* Something between the two refuses each call, and ends what goes through. */
static void close_path(int a, int b) {
  world.closed[a][b] = world.closed[b][a] = 1;
  reset_connections(a, b);
}

static void open_path(int a, int b) {
  world.closed[a][b] = world.closed[b][a] = 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static void open_world(int n, double limit, int witness) {
  static const rgi_presence_events events = {on_decided, on_ended};
  memset(&world, 0, sizeof world);
  world.n = n;
  world.time = 100;
  world.latency = any(4) ? 1e-3 : limit / 50;
  world.jitter = any(4) ? 1e-3 : limit / 50;
  for (int i = 0; i < n; i++) {
    host *m = &world.of[i];
    m->overlay = (rgi_overlay){.limit = limit, .nodes = n, .mine = i, .job = 7};
    m->overlay.witness[0] = witness ? 'w' : 0;
    m->waits = m->wake = INFINITY;
    enter(i);
    rgi_channels_open(&m->overlay, rgi_presence_receive);
    rgi_presence_open(&m->overlay, m->lost, &events);
    connect_neighbours();
    wake_at(i, world.time);
    leave();
  }
}

static void close_world(void) {
  for (int i = 0; i < world.n; i++) {
    enter(i);
    rgi_presence_close();
    rgi_channels_close();
    leave();
  }
  for (connection *c = world.first; c; c = world.first) {
    world.first = c->next;
    drop_pieces(&c->to[0]);
    drop_pieces(&c->to[1]);
    free(c);
  }
}

/* Runs all daemons until then. */
static void run_until(double end) {
  for (;;) {
    double next = end;
    int at = -1;
    connection *call = NULL;
    for (int i = 0; i < world.n; i++)
      if (world.of[i].wake < next) {
        next = world.of[i].wake;
        at = i;
      }
    for (connection *c = world.first; c; c = c->next)
      if (c->call < next) {
        next = c->call;
        call = c;
      }
    world.time = fmax(world.time, next);
    if (call)
      take_call(call);
    else if (at >= 0)
      step_daemon(at);
    else
      return;
    forget_closed();
  }
}

#endif
