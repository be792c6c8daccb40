/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of the barrier: messages of no bytes. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

/* All members send to rank 0, which answers all. */
static void barrier_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  (void)args;
  for (int i = 1; i < subgroup->size && subgroup->me == 0; i++)
    rgi_sched_receive(sched, subgroup, i, NULL, 0);
  if (subgroup->me > 0)
    rgi_sched_send(sched, subgroup, 0, NULL, 0);
  rgi_sched_end_round(sched);
  for (int i = 1; i < subgroup->size && subgroup->me == 0; i++)
    rgi_sched_send(sched, subgroup, i, NULL, 0);
  if (subgroup->me > 0)
    rgi_sched_receive(sched, subgroup, 0, NULL, 0);
}

/* Up a binomial tree and down again. */
static void barrier_tree(rgi_sched *sched, const rgi_subgroup *subgroup,
                         const rgi_algorithm_args *args) {
  int child[RGI_BINOMIAL_CHILDREN], parent = rgi_binomial_parent(subgroup->me);
  int children = rgi_binomial_children(subgroup->me, subgroup->size, child);
  (void)args;
  for (int i = 0; i < children; i++)
    rgi_sched_receive(sched, subgroup, child[i], NULL, 0);
  rgi_sched_end_round(sched);
  if (parent >= 0) {
    rgi_sched_send(sched, subgroup, parent, NULL, 0);
    rgi_sched_receive(sched, subgroup, parent, NULL, 0);
    rgi_sched_end_round(sched);
  }
  for (int i = children - 1; i >= 0; i--)
    rgi_sched_send(sched, subgroup, child[i], NULL, 0);
}

/* Dissemination: after round k every member knows that 2^k - 1 others have arrived. */
static void barrier_butterfly(rgi_sched *sched, const rgi_subgroup *subgroup,
                              const rgi_algorithm_args *args) {
  (void)args;
  for (long long d = 1; d < subgroup->size; d *= 2) {
    rgi_sched_send(sched, subgroup, (int)((subgroup->me + d) % subgroup->size), NULL, 0);
    rgi_sched_receive(sched, subgroup, (int)((subgroup->me - d + subgroup->size) % subgroup->size),
                      NULL, 0);
    rgi_sched_end_round(sched);
  }
}

static void barrier_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                 const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, -1);
  (void)subgroup;
  rgi_hier_node_barrier(sched, RG_OP_BARRIER);
  rgi_hier_between(sched, RG_OP_BARRIER, &leaders, args);
  rgi_hier_node_barrier(sched, RG_OP_BARRIER);
}

static double barrier_linear_cost(const rgi_cost_params *params) {
  return 2 * (params->p - 1) * params->ts;
}

static double barrier_tree_cost(const rgi_cost_params *params) {
  return 2 * rgi_cost_lg(params->p) * params->ts;
}

static double barrier_butterfly_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts;
}

const rgi_algorithm rgi_algorithms_barrier[] = {
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE, .cost = barrier_butterfly_cost, .formula = "lg p t_s"},
    {"linear", barrier_linear, 0, .cost = barrier_linear_cost, .formula = "2 (p - 1) t_s"},
    {"tree", barrier_tree, 0, .cost = barrier_tree_cost, .formula = "2 lg p t_s"},
    {"butterfly", barrier_butterfly, 0, .cost = barrier_butterfly_cost, .formula = "lg p t_s"},
    {"hierarchical", barrier_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "twice inside the node + between nodes"},
    {0}};
