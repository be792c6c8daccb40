/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A daemon of daemon_network.h: as daemon.c, it passes facts on, applies decisions and ends with
 * the job. enter puts the state of the daemon's node in its place, and leave keeps it. */
#ifndef RGT_DAEMON_STEPS_H
#define RGT_DAEMON_STEPS_H

#include "tests/noded/daemon_connections.h"

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
      keep_node(to);
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

static void apply_decision(int number) {
  for (int i = 0; i < world.n; i++)
    if (me()->sets[number][i] && !me()->lost[i])
      lose_node(i);
  rgi_presence_learn((uint32_t)number);
  memcpy(me()->applied[number], me()->lost, sizeof me()->lost);
  me()->decided_at = world.time;
}

/* A message about a decision: its number and its set. */
typedef struct {
  int number;
  unsigned char set[NODES];
} decision;

static void learn_decision(const decision *d, int from) {
  if (me()->known[d->number])
    return;
  me()->known[d->number] = 1;
  memcpy(me()->sets[d->number], d->set, sizeof d->set);
  rgi_connection_send_all(from, PIECE_DECISION, d, sizeof *d);
  while (me()->decisions + 1 < DECISIONS && me()->known[me()->decisions + 1])
    apply_decision(++me()->decisions);
}

static void send_decisions(int to) {
  for (int i = 1; i < DECISIONS; i++) {
    decision d = {.number = i};
    memcpy(d.set, me()->sets[i], sizeof d.set);
    if (me()->known[i])
      rgi_connection_send(to, PIECE_DECISION, &d, sizeof d);
  }
}

static void apply_fact(const rgi_overlay_fact *fact) {
  if (fact->kind == RGI_FACT_LEFT) {
    me()->left[fact->value] = 1;
  } else if (fact->kind == RGI_FACT_ENDED) {
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
  send_decisions(to);
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
  if (p->kind == PIECE_DECISION) {
    decision d;
    memcpy(&d, p->data, sizeof d);
    learn_decision(&d, from);
  }
  if (p->kind != PIECE_FACT)
    return;
  memcpy(&f, p->data, sizeof f);
  me()->end_heard[from] |= f.kind == RGI_FACT_ENDED;
  learn_fact(f.kind, f.value, from);
}

static void on_decided(uint32_t number, const unsigned char set[]) {
  decision d = {.number = (int)number + 1};
  memcpy(d.set, set, (size_t)world.n);
  learn_decision(&d, -1);
}

static void on_ended(const char *why) {
  if (me()->given_up || me()->ended)
    return;
  me()->given_up = 1;
  me()->why = why;
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
    if (me()->peers[i].kept && !rgi_connection_is_up(i))
      return 0;
  return 1;
}

static int is_daemon_needed(void) {
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
  else if (me()->ended && me()->done && !is_daemon_needed())
    end_daemon(at, FINISHED);
}

#endif
