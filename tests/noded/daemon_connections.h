/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The connections of daemon_network.h, which behave as those of connection.c do: the functions that
 * presence.c and channel.c call, and the steps in which the daemon that runs now dials, reads and
 * notices the end of a connection. */
#ifndef RGT_DAEMON_CONNECTIONS_H
#define RGT_DAEMON_CONNECTIONS_H

#include "tests/noded/daemon_world.h"

/* What a daemon does when a connection has come up, and with what comes on it: daemon_steps.h. */
static void on_up(int to);
static void on_received(int from, const piece *p);

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
  return fmin(limit_of() / 8, 2.0);
}

static void wake_at(int at, double time) {
  if (world.of[at].state == RUNNING && time < world.of[at].wake)
    world.of[at].wake = time + part(world.jitter);
}

/* To the other side. */
static void put_piece(connection *c, int side, uint32_t kind, const void *data, size_t bytes) {
  stream *s = &c->to[!side];
  world.pieces++;
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

static int is_with(const connection *c, int to) {
  return is_mine(c) && c->node[!side_of(c, world.now)] == to;
}

/* The one that has come up last. */
static connection *connection_to(int to) {
  connection *found = NULL;
  for (connection *c = world.first; c; c = c->next) {
    int side = side_of(c, world.now);
    if (is_with(c, to) && c->state[side] == SIDE_UP && !is_suspect(c, side) &&
        (!found || c->came_up[side] > found->came_up[side_of(found, world.now)]))
      found = c;
  }
  return found;
}

static int is_needed(int to) {
  const peer *p = &me()->peers[to];
  return p->kept || (p->used > 0 && world.time - p->used <= NEEDED_SECONDS);
}

static void forget_node(int of) {
  peer *p = &me()->peers[of];
  p->heard = p->down = p->direct = p->used = 0;
  p->was_heard = 0;
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
  int was_up = c->state[side] == SIDE_UP, to = c->node[!side];
  close_side(c, side);
  if (was_up && (c->needed_far[side] || is_needed(to) || connection_to(to)))
    on_broken(to);
  else if (was_up)
    forget_node(to);
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
  queue_piece(c, side, is_needed(c->node[!side]) ? PIECE_PING_NEEDED : PIECE_PING, clocks,
              sizeof clocks);
}

static void release_connection(connection *c, int side) {
  int to = c->node[!side];
  if (is_needed(to) || c->needed_far[side])
    return;
  send_ping(c, side);
  close_side(c, side);
  if (!connection_to(to))
    forget_node(to);
}

static void come_up(connection *c, int side) {
  int to = c->node[!side];
  for (connection *o = world.first; o; o = o->next) {
    int s = side_of(o, world.now);
    if (is_with(o, to) && o->state[s] == SIDE_UP && is_suspect(o, s))
      break_side(o, s);
  }
  for (connection *o = world.first; o && side == 1 && c->node[0] < c->node[1]; o = o->next)
    if (is_with(o, to) && o->node[0] == world.now && o->state[0] != SIDE_CLOSED)
      close_side(o, 0);
  if (c->state[side] == SIDE_DIALING)
    me()->peers[to].dial = NULL;
  c->state[side] = SIDE_UP;
  c->needed_far[side] = 1;
  c->came_up[side] = ++world.came_up;
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
  if (connection_to(to))
    return;
  if (p->down == 0)
    p->down = p->direct > 0 ? p->direct : world.time;
  if (p->dial)
    return;
  p->dial = new_connection(world.now, to);
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

static void begin_watching(int to) {
  peer *p = &me()->peers[to];
  p->heard = p->heard > 0 ? p->heard : world.time;
  dial_node(to);
}

void rgi_connection_make(int to) {
  int was_needed = is_needed(to);
  me()->peers[to].used = world.time;
  if (!was_needed)
    begin_watching(to);
}

static void keep_node(int to) {
  int was_needed = is_needed(to);
  me()->peers[to].kept = 1;
  if (!was_needed)
    begin_watching(to);
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
  p->kept = 0;
  p->used = p->down = 0;
  if (p->dial)
    close_side(p->dial, 0);
}

/* --- the steps of the daemon that runs now ---------------------------------------------------- */

static void receive_ping(connection *c, int side, const piece *p) {
  peer *of = &me()->peers[c->node[!side]];
  double clocks[2];
  memcpy(clocks, p->data, sizeof clocks);
  int first = !c->pinged_far[side];
  c->pinged_far[side] = 1;
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
    if (p->kind == PIECE_PING || p->kind == PIECE_PING_NEEDED) {
      c->needed_far[side] = p->kind == PIECE_PING_NEEDED;
      receive_ping(c, side, p);
      release_connection(c, side);
    } else
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
  for (int i = 0; i < world.n; i++) {
    peer *p = &me()->peers[i];
    if (is_needed(i))
      dial_node(i);
    else if (p->used > 0 && p->dial)
      close_side(p->dial, 0);
    if (p->used > 0 && !is_needed(i) && !connection_to(i))
      forget_node(i);
  }
}

#endif
