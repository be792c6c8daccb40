/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of gather and gatherv. In the tree and between nodes, blocks are collected in
 * another order than that of ranks and copied to their places at the root. */
#include "collectives/algorithms/hier.h"
#include "collectives/algorithms/hier_uneven.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

static void gather_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  if (t->me != p->root) {
    rgi_sched_send(s, t, p->root, p->in, p->bytes);
    return;
  }
  for (int i = 0; i < t->size; i++)
    if (i != p->root)
      rgi_sched_receive(s, t, i, p->out + rgi_blocks_at(&p->out_blocks, i),
                        rgi_blocks_length(&p->out_blocks, i));
  if (p->in)
    rgi_sched_copy(s, p->out + rgi_blocks_at(&p->out_blocks, p->root), p->in, p->bytes);
}

/* Copies blocks from the order of ranks counted from the root to the order of ranks. */
static void rotate_back(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p,
                        const char *room) {
  size_t upper = (size_t)(t->size - p->root) * p->bytes;
  rgi_sched_copy(s, p->out + (size_t)p->root * p->bytes, room, upper);
  rgi_sched_copy(s, p->out, room + upper, (size_t)p->root * p->bytes);
}

/* Up a binomial tree: each member sends the blocks of its subtree. */
static void gather_tree(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int child[RGI_BINOMIAL_CHILDREN], n = t->size, v = (t->me - p->root + n) % n;
  int children = rgi_binomial_children(v, n, child), parent = rgi_binomial_parent(v);
  long long end = v ? v + (v & -v) : n;
  size_t held = (size_t)((end < n ? end : n) - v);
  const char *own = p->in ? p->in : p->out + (size_t)p->root * p->bytes;
  char *room = NULL;
  if (children) {
    room = v == 0 && p->root == 0 ? p->out : rgi_sched_alloc(s, held * p->bytes);
    rgi_sched_copy(s, room, own, p->bytes);
  }
  for (int i = 0; i < children; i++) {
    long long stop = 2LL * child[i] - v; /* where the child's subtree ends */
    size_t blocks = (size_t)((stop < n ? stop : n) - child[i]);
    rgi_sched_receive(s, t, (child[i] + p->root) % n, room + (size_t)(child[i] - v) * p->bytes,
                      blocks * p->bytes);
  }
  rgi_sched_end_round(s);
  if (parent >= 0)
    rgi_sched_send(s, t, (parent + p->root) % n, room ? room : own, held * p->bytes);
  else if (!room)
    rgi_sched_copy(s, p->out, own, p->bytes);
  else if (room != p->out)
    rotate_back(s, t, p, room);
}

static void gather_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, p->root);
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  int mine = rgi_hier_node_size(s, nodes->mine), is_root = t->me == p->root;
  const char *own = p->in ? p->in : p->out + (size_t)p->root * p->bytes;
  char *room = leaders.me >= 0 ? rgi_sched_alloc(s, (size_t)mine * p->bytes) : NULL, *all = p->out;
  rgi_algorithm_args between = {.in = room, .bytes = (size_t)mine * p->bytes};
  rgi_algorithm_args inside = {
      .in = own, .out = room, .bytes = p->bytes, .root = rgi_hier_leader_local_rank(s, &leaders)};
  rgi_hier_node_gather(s, RG_OP_GATHER, &inside);
  if (is_root && !nodes->in_order)
    all = rgi_sched_alloc(s, (size_t)t->size * p->bytes);
  between.out = all;
  between.out_blocks = rgi_hier_node_blocks(s, p->bytes);
  between.root = nodes->of[p->root];
  rgi_hier_between(s, RG_OP_GATHER, &leaders, &between);
  for (int i = 0; i < t->size && is_root && all != p->out; i++)
    rgi_sched_copy(s, p->out + (size_t)nodes->by_node[i] * p->bytes, all + (size_t)i * p->bytes,
                   p->bytes);
}

static void gather_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  const char *own = p->in ? p->in : p->out + (size_t)t->me * p->bytes;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_GATHER, p->root, p->out, own, p->bytes});
}

const rgi_algorithm rgi_algorithms_gather[] = {
    {"linear", gather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"tree", gather_tree, 0, RGI_COST_DOUBLING},
    {"hierarchical", gather_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "inside the node + between nodes"},
    {"shared", gather_shared, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING},
    {0}};

const rgi_algorithm rgi_algorithms_gatherv[] = {
    {"linear", gather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", rgi_hier_uneven_gatherv, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN, NULL,
     "inside the node + between nodes"},
    {0}};
