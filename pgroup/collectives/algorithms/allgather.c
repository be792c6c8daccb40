/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of allgather and allgatherv. Each copies the own block to its place first; the
 * hierarchical one gathers on each node, exchanges the nodes' blocks between the leaders and
 * broadcasts the whole on each node. */
#include "collectives/algorithms/hier.h"
#include "collectives/algorithms/hier_uneven.h"
#include "collectives/schedule/algorithm.h"

static char *block_at(const rgi_algorithm_args *p, int i) {
  return p->out + rgi_blocks_at(&p->out_blocks, i);
}

static void copy_own_block(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  if (p->in)
    rgi_sched_copy(s, block_at(p, t->me), p->in, p->bytes);
}

/* Each member sends its block to every other one. */
static void allgather_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  copy_own_block(s, t, p);
  for (int k = 1; k < t->size; k++) {
    int to = (t->me + k) % t->size, from = (t->me - k + t->size) % t->size;
    rgi_sched_receive(s, t, from, block_at(p, from), rgi_blocks_length(&p->out_blocks, from));
    rgi_sched_send(s, t, to, block_at(p, t->me), p->bytes);
  }
}

/* For a power of two: partners exchange all blocks that they have. */
static void allgather_doubling_in_place(rgi_sched *s, const rgi_subgroup *t,
                                        const rgi_algorithm_args *p) {
  copy_own_block(s, t, p);
  for (int d = 1; d < t->size; d *= 2) {
    int other = t->me ^ d, mine = t->me & -d, theirs = other & -d;
    rgi_sched_send(s, t, other, block_at(p, mine), (size_t)d * p->bytes);
    rgi_sched_receive(s, t, other, block_at(p, theirs), (size_t)d * p->bytes);
    rgi_sched_end_round(s);
  }
}

/* Recursive doubling; for other numbers of members Bruck's algorithm: each member keeps the
 * blocks in the order of ranks counted from its own, and the last round sends only those that
 * are missing. */
static void allgather_doubling(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int n = t->size, me = t->me;
  size_t m = p->bytes;
  if ((n & (n - 1)) == 0) {
    allgather_doubling_in_place(s, t, p);
    return;
  }
  char *room = rgi_sched_alloc(s, (size_t)n * m);
  rgi_sched_copy(s, room, p->in ? p->in : block_at(p, me), m);
  for (long long d = 1; d < n; d *= 2) {
    size_t blocks = (size_t)(d < n - d ? d : n - d);
    rgi_sched_send(s, t, (int)((me - d + n) % n), room, blocks * m);
    rgi_sched_receive(s, t, (int)((me + d) % n), room + (size_t)d * m, blocks * m);
    rgi_sched_end_round(s);
  }
  rgi_sched_copy(s, block_at(p, me), room, (size_t)(n - me) * m);
  rgi_sched_copy(s, p->out, room + (size_t)(n - me) * m, (size_t)me * m);
}

static void allgather_ring(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int n = t->size, to = (t->me + 1) % n, from = (t->me - 1 + n) % n;
  copy_own_block(s, t, p);
  for (int k = 0; k < n - 1; k++) {
    int out = (t->me - k + n) % n, in = (t->me - k - 1 + n) % n;
    rgi_sched_send(s, t, to, block_at(p, out), rgi_blocks_length(&p->out_blocks, out));
    rgi_sched_receive(s, t, from, block_at(p, in), rgi_blocks_length(&p->out_blocks, in));
    rgi_sched_end_round(s);
  }
}

static void allgather_hierarchical(rgi_sched *s, const rgi_subgroup *t,
                                   const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, -1);
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  size_t m = p->bytes, all_bytes = (size_t)t->size * m;
  int mine = rgi_hier_node_size(s, nodes->mine);
  /* Where the members of nodes are not consecutive, the blocks come node by node into all. */
  char *all = nodes->in_order ? p->out : rgi_sched_alloc(s, all_bytes);
  const char *own = p->in ? p->in : block_at(p, t->me);
  char *here = rgi_sched_alloc(s, (size_t)mine * m);
  rgi_algorithm_args between = {.in = here, .out = all, .bytes = (size_t)mine * m};
  rgi_algorithm_args inside = {.in = own, .out = here, .bytes = m};
  rgi_hier_node_gather(s, RG_OP_ALLGATHER, &inside);
  between.out_blocks = rgi_hier_node_blocks(s, m);
  rgi_hier_between(s, RG_OP_ALLGATHER, &leaders, &between);
  rgi_hier_node_bcast(s, RG_OP_ALLGATHER, all, all_bytes, 0);
  for (int i = 0; i < t->size && all != p->out; i++)
    rgi_sched_copy(s, block_at(p, nodes->by_node[i]), all + (size_t)i * m, m);
}

static void allgather_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  const char *own = p->in ? p->in : block_at(p, t->me);
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_GATHER, RGI_SCHED_ALL, p->out, own, p->bytes});
}

const rgi_algorithm rgi_algorithms_allgather[] = {
    {"linear", allgather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"doubling", allgather_doubling, 0, RGI_COST_DOUBLING},
    {"ring", allgather_ring, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", allgather_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "inside the node + between nodes + inside the node"},
    {"shared", allgather_shared, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING},
    {0}};

const rgi_algorithm rgi_algorithms_allgatherv[] = {
    {"ring", allgather_ring, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"linear", allgather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", rgi_hier_uneven_allgatherv, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN, NULL,
     "inside the node + between nodes + inside the node"},
    {0}};
