/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of allgather and allgatherv. Each copies the own block to its place first; the
 * hierarchical one gathers on each node, exchanges the nodes' blocks between the leaders and
 * broadcasts the whole on each node. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"

static char *block_at(const rgi_algorithm_args *args, int i) {
  return args->out + rgi_blocks_at(&args->out_blocks, i);
}

static void copy_own_block(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  if (args->in)
    rgi_sched_copy(sched, block_at(args, subgroup->me), args->in, args->bytes);
}

/* Each member sends its block to every other one. */
static void allgather_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                             const rgi_algorithm_args *args) {
  copy_own_block(sched, subgroup, args);
  for (int k = 1; k < subgroup->size; k++) {
    int to = (subgroup->me + k) % subgroup->size,
        from = (subgroup->me - k + subgroup->size) % subgroup->size;
    rgi_sched_receive(sched, subgroup, from, block_at(args, from),
                      rgi_blocks_length(&args->out_blocks, from));
    rgi_sched_send(sched, subgroup, to, block_at(args, subgroup->me), args->bytes);
  }
}

/* For a power of two: partners exchange all blocks that they have. */
static void allgather_doubling_in_place(rgi_sched *sched, const rgi_subgroup *subgroup,
                                        const rgi_algorithm_args *args) {
  copy_own_block(sched, subgroup, args);
  for (int d = 1; d < subgroup->size; d *= 2) {
    int other = subgroup->me ^ d, mine = subgroup->me & -d, theirs = other & -d;
    rgi_sched_send(sched, subgroup, other, block_at(args, mine), (size_t)d * args->bytes);
    rgi_sched_receive(sched, subgroup, other, block_at(args, theirs), (size_t)d * args->bytes);
    rgi_sched_end_round(sched);
  }
}

/* Recursive doubling; for other numbers of members Bruck's algorithm: each member keeps the
 * blocks in the order of ranks counted from its own, and the last round sends only those that
 * are missing. */
static void allgather_doubling(rgi_sched *sched, const rgi_subgroup *subgroup,
                               const rgi_algorithm_args *args) {
  int n = subgroup->size, me = subgroup->me;
  size_t m = args->bytes;
  if ((n & (n - 1)) == 0) {
    allgather_doubling_in_place(sched, subgroup, args);
    return;
  }
  char *room = rgi_sched_alloc(sched, (size_t)n * m);
  rgi_sched_copy(sched, room, args->in ? args->in : block_at(args, me), m);
  for (long long d = 1; d < n; d *= 2) {
    size_t blocks = (size_t)(d < n - d ? d : n - d);
    rgi_sched_send(sched, subgroup, (int)((me - d + n) % n), room, blocks * m);
    rgi_sched_receive(sched, subgroup, (int)((me + d) % n), room + (size_t)d * m, blocks * m);
    rgi_sched_end_round(sched);
  }
  rgi_sched_copy(sched, block_at(args, me), room, (size_t)(n - me) * m);
  rgi_sched_copy(sched, args->out, room + (size_t)(n - me) * m, (size_t)me * m);
}

static void allgather_ring(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  int n = subgroup->size, to = (subgroup->me + 1) % n, from = (subgroup->me - 1 + n) % n;
  copy_own_block(sched, subgroup, args);
  for (int k = 0; k < n - 1; k++) {
    int out = (subgroup->me - k + n) % n, in = (subgroup->me - k - 1 + n) % n;
    rgi_sched_send(sched, subgroup, to, block_at(args, out),
                   rgi_blocks_length(&args->out_blocks, out));
    rgi_sched_receive(sched, subgroup, from, block_at(args, in),
                      rgi_blocks_length(&args->out_blocks, in));
    rgi_sched_end_round(sched);
  }
}

static void allgather_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                   const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, -1);
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  size_t m = args->bytes, all_bytes = (size_t)subgroup->size * m;
  int mine = rgi_hier_node_size(sched, nodes->mine);
  /* Where the members of nodes are not consecutive, the blocks come node by node into all. */
  char *all = nodes->in_order ? args->out : rgi_sched_alloc(sched, all_bytes);
  const char *own = args->in ? args->in : block_at(args, subgroup->me);
  char *here = rgi_sched_alloc(sched, (size_t)mine * m);
  rgi_algorithm_args between = {.in = here, .out = all, .bytes = (size_t)mine * m};
  rgi_algorithm_args inside = {.in = own, .out = here, .bytes = m};
  rgi_hier_node_gather(sched, RG_OP_ALLGATHER, &inside);
  between.out_blocks = rgi_hier_node_blocks(sched, m);
  rgi_hier_between(sched, RG_OP_ALLGATHER, &leaders, &between);
  rgi_hier_node_bcast(sched, RG_OP_ALLGATHER, all, all_bytes, 0);
  for (int i = 0; i < subgroup->size && all != args->out; i++)
    rgi_sched_copy(sched, block_at(args, nodes->by_node[i]), all + (size_t)i * m, m);
}

/* Where processes share processors: more than a member gets then no longer fits into the caches. */
static int suits_direct(const rgi_algorithm_inside *call) {
  return rgi_algorithm_spins(call) ? call->bytes >= RGI_ALGORITHM_DIRECT_LEAST
                                   : call->bytes >= ((size_t)32 << 20) / call->members;
}

const rgi_algorithm rgi_algorithms_allgather[] = {
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING, .way = RGI_WAY_CELLS,
     .suits = rgi_algorithm_tiny},
    {"direct", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_READS, RGI_COST_BLOCKS,
     .way = RGI_WAY_DIRECT, .suits = suits_direct},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING, .way = RGI_WAY_CHUNKS,
     .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE, RGI_COST_DOUBLING},
    {"linear", allgather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"doubling", allgather_doubling, 0, RGI_COST_DOUBLING},
    {"ring", allgather_ring, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", allgather_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "inside the node + between nodes + inside the node"},
    {0}};

const rgi_algorithm rgi_algorithms_allgatherv[] = {
    {"ring", allgather_ring, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"linear", allgather_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"hierarchical", rgi_hier_uneven_allgatherv, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN,
     .cost = NULL, .formula = "inside the node + between nodes + inside the node"},
    {0}};
