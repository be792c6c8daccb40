/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of gather and gatherv. In the tree and between nodes, blocks are collected in
 * another order than that of ranks and copied to their places at the root. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

static void gather_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                          const rgi_algorithm_args *args) {
  if (subgroup->me != args->root) {
    rgi_sched_send(sched, subgroup, args->root, args->in, args->bytes);
    return;
  }
  for (int i = 0; i < subgroup->size; i++)
    if (i != args->root)
      rgi_sched_receive(sched, subgroup, i, args->out + rgi_blocks_at(&args->out_blocks, i),
                        rgi_blocks_length(&args->out_blocks, i));
  if (args->in)
    rgi_sched_copy(sched, args->out + rgi_blocks_at(&args->out_blocks, args->root), args->in,
                   args->bytes);
}

/* Copies blocks from the order of ranks counted from the root to the order of ranks. */
static void rotate_back(rgi_sched *sched, const rgi_subgroup *subgroup,
                        const rgi_algorithm_args *args, const char *room) {
  size_t upper = (size_t)(subgroup->size - args->root) * args->bytes;
  rgi_sched_copy(sched, args->out + (size_t)args->root * args->bytes, room, upper);
  rgi_sched_copy(sched, args->out, room + upper, (size_t)args->root * args->bytes);
}

/* Up a binomial tree: each member sends the blocks of its subtree. */
static void gather_tree(rgi_sched *sched, const rgi_subgroup *subgroup,
                        const rgi_algorithm_args *args) {
  int child[RGI_BINOMIAL_CHILDREN], n = subgroup->size, v = (subgroup->me - args->root + n) % n;
  int children = rgi_binomial_children(v, n, child), parent = rgi_binomial_parent(v);
  long long end = v ? v + (v & -v) : n;
  size_t held = (size_t)((end < n ? end : n) - v);
  const char *own = args->in ? args->in : args->out + (size_t)args->root * args->bytes;
  char *room = NULL;
  if (children) {
    room = v == 0 && args->root == 0 ? args->out : rgi_sched_alloc(sched, held * args->bytes);
    rgi_sched_copy(sched, room, own, args->bytes);
  }
  for (int i = 0; i < children; i++) {
    long long stop = 2LL * child[i] - v; /* where the child's subtree ends */
    size_t blocks = (size_t)((stop < n ? stop : n) - child[i]);
    rgi_sched_receive(sched, subgroup, (child[i] + args->root) % n,
                      room + (size_t)(child[i] - v) * args->bytes, blocks * args->bytes);
  }
  rgi_sched_end_round(sched);
  if (parent >= 0)
    rgi_sched_send(sched, subgroup, (parent + args->root) % n, room ? room : own,
                   held * args->bytes);
  else if (!room)
    rgi_sched_copy(sched, args->out, own, args->bytes);
  else if (room != args->out)
    rotate_back(sched, subgroup, args, room);
}

static void gather_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, args->root);
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  int mine = rgi_hier_node_size(sched, nodes->mine), is_root = subgroup->me == args->root;
  const char *own = args->in ? args->in : args->out + (size_t)args->root * args->bytes;
  char *room = leaders.me >= 0 ? rgi_sched_alloc(sched, (size_t)mine * args->bytes) : NULL,
       *all = args->out;
  rgi_algorithm_args between = {.in = room, .bytes = (size_t)mine * args->bytes};
  rgi_algorithm_args inside = {.in = own,
                               .out = room,
                               .bytes = args->bytes,
                               .root = rgi_hier_leader_local_rank(sched, &leaders)};
  rgi_hier_node_gather(sched, RG_OP_GATHER, &inside);
  if (is_root && !nodes->in_order)
    all = rgi_sched_alloc(sched, (size_t)subgroup->size * args->bytes);
  between.out = all;
  between.out_blocks = rgi_hier_node_blocks(sched, args->bytes);
  between.root = nodes->of[args->root];
  rgi_hier_between(sched, RG_OP_GATHER, &leaders, &between);
  for (int i = 0; i < subgroup->size && is_root && all != args->out; i++)
    rgi_sched_copy(sched, args->out + (size_t)nodes->by_node[i] * args->bytes,
                   all + (size_t)i * args->bytes, args->bytes);
}

/* Beside a root that reads one block after the other, a member that sends leaves as soon as its
 * block is in its chunks. */
static int suits_direct(const rgi_algorithm_inside *call) {
  if (!rgi_algorithm_spins(call))
    return call->bytes >= (size_t)1 << 20;
  return call->members > 2 ? call->bytes > RGI_SHM_CHUNKS * RGI_SHM_CHUNK
                           : call->bytes >= RGI_ALGORITHM_DIRECT_LEAST;
}

const rgi_algorithm rgi_algorithms_gather[] = {
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING, .way = RGI_WAY_CELLS,
     .suits = rgi_algorithm_tiny},
    {"direct", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_READS, RGI_COST_BLOCKS,
     .way = RGI_WAY_DIRECT, .suits = suits_direct},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING, .way = RGI_WAY_CHUNKS,
     .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING},
    {"linear", gather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"tree", gather_tree, 0, RGI_COST_DOUBLING},
    {"hierarchical", gather_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "inside the node + between nodes"},
    {0}};

const rgi_algorithm rgi_algorithms_gatherv[] = {
    {"linear", gather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", rgi_hier_uneven_gatherv, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN,
     .cost = NULL, .formula = "inside the node + between nodes"},
    {0}};
