/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Barrier. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/hierarchy.h"
#include "collectives/straight.h"
#include "formation/tree.h"

/* All tell rank 0, which tells all. */
static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)p;
  for (int i = 1; i < t->size && t->me == 0; i++)
    rgi_receive(s, t, i, NULL, 0);
  if (t->me > 0)
    rgi_send(s, t, 0, NULL, 0);
  rgi_round(s);
  for (int i = 1; i < t->size && t->me == 0; i++)
    rgi_send(s, t, i, NULL, 0);
  if (t->me > 0)
    rgi_receive(s, t, 0, NULL, 0);
}

/* Up a binomial tree and down again. */
static void tree(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int child[RGI_TREE_CHILDREN], parent = rgi_tree_parent(t->me);
  int children = rgi_tree_children(t->me, t->size, child);
  (void)p;
  for (int i = 0; i < children; i++)
    rgi_receive(s, t, child[i], NULL, 0);
  rgi_round(s);
  if (parent >= 0) {
    rgi_send(s, t, parent, NULL, 0);
    rgi_receive(s, t, parent, NULL, 0);
    rgi_round(s);
  }
  for (int i = children - 1; i >= 0; i--)
    rgi_send(s, t, child[i], NULL, 0);
}

/* Dissemination: after round k everybody has heard of 2^k others. */
static void butterfly(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)p;
  for (long long d = 1; d < t->size; d *= 2) {
    rgi_send(s, t, (int)((t->me + d) % t->size), NULL, 0);
    rgi_receive(s, t, (int)((t->me - d + t->size) % t->size), NULL, 0);
    rgi_round(s);
  }
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, -1);
  (void)t;
  rgi_node_barrier(s, RG_OP_BARRIER);
  rgi_between(s, RG_OP_BARRIER, &speakers, p);
  rgi_node_barrier(s, RG_OP_BARRIER);
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)t, (void)p;
  rgi_inside(s, RGI_INSIDE_BARRIER, 0, NULL, NULL, 0);
}

static double linear_cost(const rgi_load *l) {
  return 2 * (l->p - 1) * l->ts;
}

static double tree_cost(const rgi_load *l) {
  return 2 * rgi_lg(l->p) * l->ts;
}

static double butterfly_cost(const rgi_load *l) {
  return rgi_lg(l->p) * l->ts;
}

const rgi_algorithm rgi_barrier_algorithms[] = {
    {"linear", linear, 0, linear_cost, "2 (p - 1) t_s"},
    {"tree", tree, 0, tree_cost, "2 lg p t_s"},
    {"butterfly", butterfly, 0, butterfly_cost, "lg p t_s"},
    {"hierarchical", hierarchical, RGI_NODES, NULL, "twice inside the node + between nodes"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, butterfly_cost, "lg p t_s"},
    {0}};

static rgi_call barrier_call(const char *name, rg_group g) {
  return (rgi_call){.operation = RG_OP_BARRIER, .name = name, .group = g};
}

int rg_barrier(rg_group g) {
  rgi_local *l = rgi_straight(g, 1, g, 1, 0);
  if (l)
    return rgi_local_barrier(l, __func__);
  rgi_call c = barrier_call(__func__, g);
  return rgi_call_run(&c, NULL);
}

int rg_ibarrier(rg_group g, rg_request *request) {
  rgi_call c = barrier_call(__func__, g);
  return RGI_START(c, request);
}
