/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of the barrier: messages of no bytes. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

/* All members send to rank 0, which answers all. */
static void barrier_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)p;
  for (int i = 1; i < t->size && t->me == 0; i++)
    rgi_sched_receive(s, t, i, NULL, 0);
  if (t->me > 0)
    rgi_sched_send(s, t, 0, NULL, 0);
  rgi_sched_end_round(s);
  for (int i = 1; i < t->size && t->me == 0; i++)
    rgi_sched_send(s, t, i, NULL, 0);
  if (t->me > 0)
    rgi_sched_receive(s, t, 0, NULL, 0);
}

/* Up a binomial tree and down again. */
static void barrier_tree(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int child[RGI_BINOMIAL_CHILDREN], parent = rgi_binomial_parent(t->me);
  int children = rgi_binomial_children(t->me, t->size, child);
  (void)p;
  for (int i = 0; i < children; i++)
    rgi_sched_receive(s, t, child[i], NULL, 0);
  rgi_sched_end_round(s);
  if (parent >= 0) {
    rgi_sched_send(s, t, parent, NULL, 0);
    rgi_sched_receive(s, t, parent, NULL, 0);
    rgi_sched_end_round(s);
  }
  for (int i = children - 1; i >= 0; i--)
    rgi_sched_send(s, t, child[i], NULL, 0);
}

/* Dissemination: after round k every member knows that 2^k - 1 others have arrived. */
static void barrier_butterfly(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)p;
  for (long long d = 1; d < t->size; d *= 2) {
    rgi_sched_send(s, t, (int)((t->me + d) % t->size), NULL, 0);
    rgi_sched_receive(s, t, (int)((t->me - d + t->size) % t->size), NULL, 0);
    rgi_sched_end_round(s);
  }
}

static void barrier_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, -1);
  (void)t;
  rgi_hier_node_barrier(s, RG_OP_BARRIER);
  rgi_hier_between(s, RG_OP_BARRIER, &leaders, p);
  rgi_hier_node_barrier(s, RG_OP_BARRIER);
}

static void barrier_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t, (void)p;
  rgi_sched_add(s, (rgi_sched_step){.kind = RGI_SCHED_SHM_BARRIER});
}

static double barrier_linear_cost(const rgi_cost_params *l) {
  return 2 * (l->p - 1) * l->ts;
}

static double barrier_tree_cost(const rgi_cost_params *l) {
  return 2 * rgi_cost_lg(l->p) * l->ts;
}

static double barrier_butterfly_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts;
}

const rgi_algorithm rgi_algorithms_barrier[] = {
    {"linear", barrier_linear, 0, barrier_linear_cost, "2 (p - 1) t_s"},
    {"tree", barrier_tree, 0, barrier_tree_cost, "2 lg p t_s"},
    {"butterfly", barrier_butterfly, 0, barrier_butterfly_cost, "lg p t_s"},
    {"hierarchical", barrier_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "twice inside the node + between nodes"},
    {"shared", barrier_shared, RGI_ALGORITHM_ONE_NODE, barrier_butterfly_cost, "lg p t_s"},
    {0}};
