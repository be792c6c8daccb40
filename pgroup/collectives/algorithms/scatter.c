/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of scatter and scatterv. For the tree and between nodes the root first copies
 * its blocks to the order in which they are passed on. */
#include "collectives/algorithms/hier.h"
#include "collectives/algorithms/hier_uneven.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

static void scatter_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  if (t->me != p->root) {
    rgi_sched_receive(s, t, p->root, p->out, p->bytes);
    return;
  }
  for (int i = 0; i < t->size; i++)
    if (i != p->root)
      rgi_sched_send(s, t, i, p->in + rgi_blocks_at(&p->in_blocks, i),
                     rgi_blocks_length(&p->in_blocks, i));
  if (p->out)
    rgi_sched_copy(s, p->out, p->in + rgi_blocks_at(&p->in_blocks, p->root), p->bytes);
}

/* Returns the root's blocks in the order of ranks counted from the root. */
static const char *rotate_to_root(rgi_sched *s, const rgi_subgroup *t,
                                  const rgi_algorithm_args *p) {
  if (p->root == 0)
    return p->in;
  size_t lower = (size_t)p->root * p->bytes, upper = (size_t)(t->size - p->root) * p->bytes;
  char *room = rgi_sched_alloc(s, lower + upper);
  rgi_sched_copy(s, room, p->in + lower, upper);
  rgi_sched_copy(s, room + upper, p->in, lower);
  return room;
}

/* Recursive halving: down a binomial tree, where a child gets the blocks of its subtree. */
static void scatter_halving(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int child[RGI_BINOMIAL_CHILDREN], n = t->size, v = (t->me - p->root + n) % n;
  int children = rgi_binomial_children(v, n, child), parent = rgi_binomial_parent(v);
  long long end = v ? v + (v & -v) : n;
  size_t held = (size_t)((end < n ? end : n) - v);
  const char *blocks;
  if (parent >= 0) {
    char *room = children ? rgi_sched_alloc(s, held * p->bytes) : p->out;
    rgi_sched_receive(s, t, (parent + p->root) % n, room, held * p->bytes);
    rgi_sched_end_round(s);
    blocks = room;
  } else {
    blocks = rotate_to_root(s, t, p);
  }
  for (int i = children - 1; i >= 0; i--) {
    size_t from = (size_t)(child[i] - v);
    rgi_sched_send(s, t, (child[i] + p->root) % n, blocks + from * p->bytes,
                   (held - from) * p->bytes);
    held = from;
  }
  if (p->out)
    rgi_sched_copy(s, p->out, blocks, p->bytes);
}

static void scatter_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, p->root);
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  size_t mine = (size_t)rgi_hier_node_size(s, nodes->mine) * p->bytes;
  char *room = leaders.me >= 0 ? rgi_sched_alloc(s, mine) : NULL, *all = NULL;
  rgi_algorithm_args between = {
      .in = p->in, .out = room, .bytes = mine, .root = nodes->of[p->root]};
  if (t->me == p->root && !nodes->in_order) {
    between.in = all = rgi_sched_alloc(s, (size_t)t->size * p->bytes);
    for (int i = 0; i < t->size; i++)
      rgi_sched_copy(s, all + (size_t)i * p->bytes, p->in + (size_t)nodes->by_node[i] * p->bytes,
                     p->bytes);
  }
  between.in_blocks = rgi_hier_node_blocks(s, p->bytes);
  rgi_hier_between(s, RG_OP_SCATTER, &leaders, &between);
  rgi_algorithm_args inside = {.in = room,
                               .out = p->out ? p->out : rgi_sched_alloc(s, p->bytes),
                               .bytes = p->bytes,
                               .root = rgi_hier_leader_local_rank(s, &leaders)};
  rgi_hier_node_scatter(s, RG_OP_SCATTER, &inside);
}

static void scatter_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_SCATTER, p->root, p->out, p->in, p->bytes});
}

const rgi_algorithm rgi_algorithms_scatter[] = {
    {"linear", scatter_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"halving", scatter_halving, 0, RGI_COST_DOUBLING},
    {"hierarchical", scatter_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "between nodes + inside the node"},
    {"shared", scatter_shared, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING},
    {0}};

const rgi_algorithm rgi_algorithms_scatterv[] = {
    {"linear", scatter_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", rgi_hier_uneven_scatterv, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN, NULL,
     "between nodes + inside the node"},
    {0}};
