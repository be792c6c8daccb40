/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing on two, three and four (pretended) nodes of two ranks, and the same in the
 * simulator: where each node has work for its idle process, none leaves its node; where a node has
 * no work left, its processes join groups of other nodes.
 * ranks: 4 6 8
 * sources: lb/patterns/pattern.c lb/simulator/mode_async.c lb/simulator/event.c
 * sources: lb/simulator/machine.c lb/simulator/sim.c lb/simulator/mode_sync.c lb/simulator/world.c
 * sources: lb/simulator/walkers.c lb/simulator/meetings.c */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lb/simulator/sim.h"
#include "world.h"

enum { SHORT = 2, LONG = 20, MOST_RANKS = 8, UNIT = 10000 /* microseconds */ };

/* away: the first node has two short walkers, the others have two long ones. Otherwise each node
 * has a short and a long one, and the last node's short one ends first: from left to right all idle
 * processes would leave their nodes. */
typedef struct {
  int nodes, away;
} division;

static int64_t units_of(const division *d, int node, int second) {
  if (d->away)
    return node == 0 ? SHORT : LONG;
  return second ? LONG : SHORT + d->nodes - 1 - node;
}

/* --- simulated ------------------------------------------------------------------------------- */

static int plan_blindly(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rg_load rows[MOST_RANKS];
  rg_load_table copy = *table;
  for (int64_t i = 0; i < table->count; i++) {
    rows[i] = table->load[i];
    rows[i].node = 0;
  }
  copy.size = sizeof copy;
  copy.load = rows;
  return rg_policy_plan(policy->context, &copy, plan);
}

/* How many groups joined one of another node. Ranks are distributed to the nodes in blocks. */
static int64_t simulated(const division *d, const char *name, int blind) {
  int64_t units[MOST_RANKS], ranks = 2 * d->nodes;
  sim_result r = {0};
  sim_setup s = {.policy.size = sizeof s.policy,
                 .ranks = ranks,
                 .group = 1,
                 .most = 2,
                 .nodes = d->nodes,
                 .unit = 1e-6 * UNIT,
                 .view = 128,
                 .pattern = {.walkers = ranks, .units = units}};
  for (int w = 0; w < ranks; w++) {
    units[w] = units_of(d, w / 2, w % 2);
    s.pattern.total += units[w];
  }
  RGT_OK(rg_policy_parse(name, &s.policy));
  RGT_OK(sim_machine_read("free", &s.machine));
  const rg_policy own = s.policy;
  s.machine.between = 1e-4;
  s.machine.steps = 2;
  if (blind) {
    s.policy.plan = plan_blindly;
    s.policy.context = &own;
  }
  RGT_OK(sim_run(&s, &r));
  return r.crossed;
}

/* --- run ------------------------------------------------------------------------------------- */

typedef struct {
  int64_t done, crossed, largest;
} cross_state;

/* MPI distributes the ranks to its pretended nodes in turn. */
static int cross_unit(rg_walker *walker, rg_group g, void *context) {
  const division *d = context;
  cross_state *s = walker->state;
  int size, nodes[2] = {rgt_rank % d->nodes, -(rgt_rank % d->nodes)};
  RGT_OK(rg_group_size(g, &size));
  usleep(UNIT / (unsigned)size);
  int error = rg_allreduce(g, MPI_IN_PLACE, nodes, 2, MPI_INT, MPI_MAX);
  s->done++;
  s->crossed |= nodes[0] != -nodes[1];
  s->largest = size > s->largest ? size : s->largest;
  return error;
}

static double cross_left(const rg_walker *walker, void *context) {
  const division *d = context;
  int at = (int)walker->id;
  return (double)(units_of(d, at % d->nodes, at / d->nodes) -
                  ((const cross_state *)walker->state)->done);
}

/* How many walkers had a group of several nodes, and how many had two processes. */
static int64_t measured(division *d, const char *name, int64_t *pairs) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(cross_state),
                         .unit = cross_unit,
                         .left = cross_left,
                         .context = d};
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
  const rg_balance_outcome *all;
  int64_t count, crossed = *pairs = 0;
  rg_balancer b;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int w = 0; w < rgt_size; w++) {
    rg_walker_new new = {.size = sizeof new,
                         .id = w,
                         .left = (double)units_of(d, w % d->nodes, w / d->nodes),
                         .most = 2};
    RGT_OK(rg_balance_add(b, &new));
  }
  RGT_OK(rg_balance_run(b));
  RGT_OK(rg_balance_gather_all(b));
  RGT_OK(rg_balance_outcomes(b, &count, &all));
  RGT_INT(count, rgt_size);
  for (int64_t i = 0; i < count; i++) {
    const cross_state *s = all[i].state;
    crossed += s->crossed;
    *pairs += s->largest == 2;
  }
  RGT_OK(rg_balance_free(&b));
  return crossed;
}

/* --- both ---------------------------------------------------------------------------------- */

static const char *const policies[] = {"share-out:cost=0", "most-work", "release:cost=0"};

/* On a busy machine a node may do all its work before the idle process of another one has run. */
static void test_inside(void) {
  division d = {.nodes = rgt_size / 2};
  for (int k = 0; k < 3; k++) {
    int64_t pairs, crossed = 1;
    RGT_INT(simulated(&d, policies[k], 0), 0);
    for (int tries = 0; tries < 3 && crossed > 0; tries++)
      crossed = measured(&d, policies[k], &pairs);
    RGT_INT(crossed, 0);
    RGT_INT(pairs, d.nodes);
  }
  RGT_TRUE(simulated(&d, policies[0], 1) > 0);
}

static void test_away(void) {
  division d = {.nodes = rgt_size / 2, .away = 1};
  for (int k = 0; k < 3; k++) {
    int64_t pairs;
    RGT_TRUE(simulated(&d, policies[k], 0) >= 2);
    RGT_TRUE(measured(&d, policies[k], &pairs) >= 2);
    RGT_TRUE(pairs >= 2);
  }
}

/* Under MPICH's launcher each two ranks are a node. */
int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"inside the nodes", test_inside},
                                   {"away", test_away},
                                   {"end", test_end},
                                   {NULL, NULL}};
  const char *ranks = getenv("PMI_SIZE");
  char nodes[16];
  if (!ranks) {
    printf("the nodes are pretended by MPICH\n");
    return 77;
  }
  snprintf(nodes, sizeof nodes, "%d", atoi(ranks) / 2);
  setenv("MPIR_CVAR_NUM_CLIQUES", nodes, 1);
  return rgt_main(argc, argv, "nodes-agree", tests);
}
