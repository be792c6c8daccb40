/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of scatter and scatterv. For the tree and between nodes the root first copies
 * its blocks to the order in which they are passed on. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

static void scatter_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  if (subgroup->me != args->root) {
    rgi_sched_receive(sched, subgroup, args->root, args->out, args->bytes);
    return;
  }
  for (int i = 0; i < subgroup->size; i++)
    if (i != args->root)
      rgi_sched_send(sched, subgroup, i, args->in + rgi_blocks_at(&args->in_blocks, i),
                     rgi_blocks_length(&args->in_blocks, i));
  if (args->out)
    rgi_sched_copy(sched, args->out, args->in + rgi_blocks_at(&args->in_blocks, args->root),
                   args->bytes);
}

/* Returns the root's blocks in the order of ranks counted from the root. */
static const char *rotate_to_root(rgi_sched *sched, const rgi_subgroup *subgroup,
                                  const rgi_algorithm_args *args) {
  if (args->root == 0)
    return args->in;
  size_t lower = (size_t)args->root * args->bytes,
         upper = (size_t)(subgroup->size - args->root) * args->bytes;
  char *room = rgi_sched_alloc(sched, lower + upper);
  rgi_sched_copy(sched, room, args->in + lower, upper);
  rgi_sched_copy(sched, room + upper, args->in, lower);
  return room;
}

/* Recursive halving: down a binomial tree, where a child gets the blocks of its subtree. */
static void scatter_halving(rgi_sched *sched, const rgi_subgroup *subgroup,
                            const rgi_algorithm_args *args) {
  int child[RGI_BINOMIAL_CHILDREN], n = subgroup->size, v = (subgroup->me - args->root + n) % n;
  int children = rgi_binomial_children(v, n, child), parent = rgi_binomial_parent(v);
  long long end = v ? v + (v & -v) : n;
  size_t held = (size_t)((end < n ? end : n) - v);
  const char *blocks;
  if (parent >= 0) {
    char *room = children ? rgi_sched_alloc(sched, held * args->bytes) : args->out;
    rgi_sched_receive(sched, subgroup, (parent + args->root) % n, room, held * args->bytes);
    rgi_sched_end_round(sched);
    blocks = room;
  } else {
    blocks = rotate_to_root(sched, subgroup, args);
  }
  for (int i = children - 1; i >= 0; i--) {
    size_t from = (size_t)(child[i] - v);
    rgi_sched_send(sched, subgroup, (child[i] + args->root) % n, blocks + from * args->bytes,
                   (held - from) * args->bytes);
    held = from;
  }
  if (args->out)
    rgi_sched_copy(sched, args->out, blocks, args->bytes);
}

static void scatter_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                 const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, args->root);
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  size_t mine = (size_t)rgi_hier_node_size(sched, nodes->mine) * args->bytes;
  char *room = leaders.me >= 0 ? rgi_sched_alloc(sched, mine) : NULL, *all = NULL;
  rgi_algorithm_args between = {
      .in = args->in, .out = room, .bytes = mine, .root = nodes->of[args->root]};
  if (subgroup->me == args->root && !nodes->in_order) {
    between.in = all = rgi_sched_alloc(sched, (size_t)subgroup->size * args->bytes);
    for (int i = 0; i < subgroup->size; i++)
      rgi_sched_copy(sched, all + (size_t)i * args->bytes,
                     args->in + (size_t)nodes->by_node[i] * args->bytes, args->bytes);
  }
  between.in_blocks = rgi_hier_node_blocks(sched, args->bytes);
  rgi_hier_between(sched, RG_OP_SCATTER, &leaders, &between);
  rgi_algorithm_args inside = {.in = room,
                               .out = args->out ? args->out : rgi_sched_alloc(sched, args->bytes),
                               .bytes = args->bytes,
                               .root = rgi_hier_leader_local_rank(sched, &leaders)};
  rgi_hier_node_scatter(sched, RG_OP_SCATTER, &inside);
}

/* The blocks of all members but the root have room in its cell. */
static int suits_cells(const rgi_algorithm_inside *call) {
  return call->bytes * (call->members - 1) <= RGI_SHM_TINY;
}

static int suits_direct(const rgi_algorithm_inside *call) {
  return call->bytes >=
         (rgi_algorithm_spins(call) ? RGI_ALGORITHM_DIRECT_LEAST : (size_t)128 << 10);
}

const rgi_algorithm rgi_algorithms_scatter[] = {
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING, .way = RGI_WAY_CELLS,
     .suits = suits_cells},
    {"direct", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_READS, RGI_COST_BLOCKS,
     .way = RGI_WAY_DIRECT, .suits = suits_direct},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING, .way = RGI_WAY_CHUNKS,
     .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING},
    {"linear", scatter_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"halving", scatter_halving, 0, RGI_COST_DOUBLING},
    {"hierarchical", scatter_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "between nodes + inside the node"},
    {0}};

const rgi_algorithm rgi_algorithms_scatterv[] = {
    {"linear", scatter_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", rgi_hier_uneven_scatterv, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN,
     .cost = NULL, .formula = "between nodes + inside the node"},
    {0}};
