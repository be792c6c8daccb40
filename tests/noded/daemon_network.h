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

#include "tests/noded/daemon_steps.h"

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
static inline void close_path(int a, int b) {
  world.closed[a][b] = world.closed[b][a] = 1;
  reset_connections(a, b);
}

static inline void open_path(int a, int b) {
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
