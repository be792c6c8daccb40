/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of scan and exscan. Inside a node by shared memory they are reductions whose
 * results differ (node_reduce.c). */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"

/* --- scan ----------------------------------------------------------------------------- */

static void scan_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                        const rgi_algorithm_args *args) {
  rgi_sched_copy(sched, args->out, args->in, args->bytes);
  if (subgroup->me > 0) {
    char *before = rgi_sched_alloc(sched, args->bytes);
    rgi_sched_receive(sched, subgroup, subgroup->me - 1, before, args->bytes);
    rgi_sched_end_round(sched);
    rgi_sched_reduce_right(sched, before, args->out, args->bytes);
  }
  if (subgroup->me < subgroup->size - 1)
    rgi_sched_send(sched, subgroup, subgroup->me + 1, args->out, args->bytes);
}

/* After round k, out holds the last 2^k operands up to the own one, combined. */
static void scan_doubling(rgi_sched *sched, const rgi_subgroup *subgroup,
                          const rgi_algorithm_args *args) {
  char *before = rgi_sched_alloc(sched, args->bytes);
  rgi_sched_copy(sched, args->out, args->in, args->bytes);
  for (long long d = 1; d < subgroup->size; d *= 2) {
    if (subgroup->me + d < subgroup->size)
      rgi_sched_send(sched, subgroup, (int)(subgroup->me + d), args->out, args->bytes);
    if (subgroup->me >= d)
      rgi_sched_receive(sched, subgroup, (int)(subgroup->me - d), before, args->bytes);
    rgi_sched_end_round(sched);
    if (subgroup->me >= d)
      rgi_sched_reduce_right(sched, before, args->out, args->bytes);
  }
}

/* --- exscan --------------------------------------------------------------------------- */

static void exscan_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                          const rgi_algorithm_args *args) {
  const char *next = args->in;
  if (subgroup->me > 0) {
    rgi_sched_receive(sched, subgroup, subgroup->me - 1, args->out, args->bytes);
    rgi_sched_end_round(sched);
  }
  if (subgroup->me == subgroup->size - 1)
    return;
  if (subgroup->me > 0) {
    char *sum = rgi_sched_alloc(sched, args->bytes);
    rgi_sched_copy(sched, sum, args->in, args->bytes);
    rgi_sched_reduce_right(sched, args->out, sum, args->bytes);
    next = sum;
  }
  rgi_sched_send(sched, subgroup, subgroup->me + 1, next, args->bytes);
}

/* Each member sends its operand to the next rank; ranks 1 and up scan what they got. */
static void exscan_doubling(rgi_sched *sched, const rgi_subgroup *subgroup,
                            const rgi_algorithm_args *args) {
  if (subgroup->me < subgroup->size - 1)
    rgi_sched_send(sched, subgroup, subgroup->me + 1, args->in, args->bytes);
  if (subgroup->me == 0)
    return;
  int *ranks = rgi_sched_alloc(sched, (size_t)subgroup->size * sizeof *ranks);
  char *operand = rgi_sched_alloc(sched, args->bytes);
  rgi_sched_receive(sched, subgroup, subgroup->me - 1, operand, args->bytes);
  rgi_sched_end_round(sched);
  for (int i = 1; i < subgroup->size && ranks; i++)
    ranks[i - 1] = rgi_subgroup_rank(subgroup, i);
  rgi_subgroup others = {subgroup->size - 1, subgroup->me - 1, ranks};
  rgi_algorithm_args scan = *args;
  scan.in = operand;
  if (ranks)
    scan_doubling(sched, &others, &scan);
}

/* --- both, hierarchical: consecutive ranks on each node --------------------------------- */

/* The members of each node scan. The last member of a node has its sum and takes part in an
 * exscan between nodes. Its result is combined with all results of the node. */
static void scan_by_nodes(rgi_sched *sched, const rgi_subgroup *subgroup,
                          const rgi_algorithm_args *args, int inclusive) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  const rgi_subgroup *inside = &nodes->inside;
  int *lasts = rgi_sched_alloc(sched, (size_t)nodes->count * sizeof *lasts), is_last;
  char *sum = rgi_sched_alloc(sched, args->bytes), *before = rgi_sched_alloc(sched, args->bytes);
  if (sched->error)
    return;
  for (int i = 0; i < nodes->count; i++)
    lasts[i] = rgi_hier_node_member(sched, i, rgi_hier_node_size(sched, i) - 1);
  is_last = lasts[nodes->mine] == subgroup->me;
  rgi_subgroup leaders = {nodes->count, is_last ? nodes->mine : -1, lasts};
  rgi_algorithm_args scan = {.in = args->in, .out = sum, .bytes = args->bytes};
  rgi_algorithm_args between = {.in = sum, .out = before, .bytes = args->bytes};
  scan_doubling(sched, inside, &scan);
  rgi_sched_end_round(sched);
  if (is_last)
    exscan_doubling(sched, &leaders, &between);
  rgi_sched_end_round(sched);
  if (nodes->mine > 0)
    rgi_hier_node_bcast(sched, RG_OP_SCAN, before, args->bytes, inside->size - 1);
  const char *result = sum;
  if (!inclusive) { /* take the result of the member before */
    char *shifted = rgi_sched_alloc(sched, args->bytes);
    rgi_sched_end_round(sched);
    if (!is_last)
      rgi_sched_send(sched, inside, inside->me + 1, sum, args->bytes);
    if (inside->me > 0)
      rgi_sched_receive(sched, inside, inside->me - 1, shifted, args->bytes);
    rgi_sched_end_round(sched);
    result = shifted;
  }
  if (!inclusive && inside->me == 0) {
    if (nodes->mine > 0)
      rgi_sched_copy(sched, args->out, before, args->bytes);
    return;
  }
  rgi_sched_copy(sched, args->out, result, args->bytes);
  if (nodes->mine > 0)
    rgi_sched_reduce_right(sched, before, args->out, args->bytes);
}

static void scan_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                              const rgi_algorithm_args *args) {
  scan_by_nodes(sched, subgroup, args, 1);
}

static void exscan_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  scan_by_nodes(sched, subgroup, args, 0);
}

static double exscan_doubling_cost(const rgi_cost_params *params) {
  return rgi_cost_reduce_tree(params) + params->ts + params->n * params->tw;
}

#define HIERARCHICAL_FORMULA "inside the node + between nodes + inside the node"

/* A member combines whole vectors: longer ones are faster when all members share the work. */
static int suits_levels(const rgi_algorithm_inside *call) {
  return call->bytes <= RGI_NODE_COLL_LEVELS_MOST;
}

/* All members read the lines of many others. */
static int suits_once(const rgi_algorithm_inside *call) {
  return call->bytes * (call->members - 1) <=
         (rgi_algorithm_spins(call) ? (size_t)4 << 10 : (size_t)32 << 10);
}

const rgi_algorithm rgi_algorithms_scan[] = {
    {"levels", NULL,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_LEVELS | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_TREE, .way = RGI_WAY_LEVELS, .suits = suits_levels},
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_LINEAR,
     .way = RGI_WAY_CELLS, .suits = rgi_algorithm_tiny},
    {"once", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_LINEAR, .way = RGI_WAY_ONCE, .suits = suits_once},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM,
     .way = RGI_WAY_CHUNKS, .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM},
    {"linear", scan_linear, 0, RGI_COST_REDUCE_LINEAR},
    {"doubling", scan_doubling, 0, RGI_COST_REDUCE_TREE},
    {"hierarchical", scan_hierarchical, RGI_ALGORITHM_NODES | RGI_ALGORITHM_IN_ORDER, .cost = NULL,
     .formula = HIERARCHICAL_FORMULA},
    {0}};

const rgi_algorithm rgi_algorithms_exscan[] = {
    {"levels", NULL,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_LEVELS | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_TREE, .way = RGI_WAY_LEVELS, .suits = suits_levels},
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_LINEAR,
     .way = RGI_WAY_CELLS, .suits = rgi_algorithm_tiny},
    {"once", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_LINEAR, .way = RGI_WAY_ONCE, .suits = suits_once},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM,
     .way = RGI_WAY_CHUNKS, .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM},
    {"linear", exscan_linear, 0, RGI_COST_REDUCE_LINEAR},
    {"doubling", exscan_doubling, 0, .cost = exscan_doubling_cost,
     .formula = "(1 + lg p) (t_s + n t_w) + lg p n t_c"},
    {"hierarchical", exscan_hierarchical, RGI_ALGORITHM_NODES | RGI_ALGORITHM_IN_ORDER,
     .cost = NULL, .formula = HIERARCHICAL_FORMULA},
    {0}};
