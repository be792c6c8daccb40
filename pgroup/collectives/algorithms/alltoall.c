/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of all-to-all and its vector form. The hierarchical one gathers all blocks of a
 * node at its leader, sorts them by target node, exchanges between leaders and scatters. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"

static void send_block(rgi_sched *sched, const rgi_subgroup *subgroup,
                       const rgi_algorithm_args *args, int to) {
  rgi_sched_send(sched, subgroup, to, args->in + rgi_blocks_at(&args->in_blocks, to),
                 rgi_blocks_length(&args->in_blocks, to));
}

static void receive_block(rgi_sched *sched, const rgi_subgroup *subgroup,
                          const rgi_algorithm_args *args, int from) {
  rgi_sched_receive(sched, subgroup, from, args->out + rgi_blocks_at(&args->out_blocks, from),
                    rgi_blocks_length(&args->out_blocks, from));
}

static void copy_own(rgi_sched *sched, const rgi_subgroup *subgroup,
                     const rgi_algorithm_args *args) {
  rgi_sched_copy(sched, args->out + rgi_blocks_at(&args->out_blocks, subgroup->me),
                 args->in + rgi_blocks_at(&args->in_blocks, subgroup->me),
                 rgi_blocks_length(&args->out_blocks, subgroup->me));
}

/* All messages at once. */
static void alltoall_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                            const rgi_algorithm_args *args) {
  for (int k = 1; k < subgroup->size; k++) {
    receive_block(sched, subgroup, args, (subgroup->me - k + subgroup->size) % subgroup->size);
    send_block(sched, subgroup, args, (subgroup->me + k) % subgroup->size);
  }
  copy_own(sched, subgroup, args);
}

/* One partner in each round. */
static void alltoall_pairwise(rgi_sched *sched, const rgi_subgroup *subgroup,
                              const rgi_algorithm_args *args) {
  copy_own(sched, subgroup, args);
  for (int k = 1; k < subgroup->size; k++) {
    receive_block(sched, subgroup, args, (subgroup->me - k + subgroup->size) % subgroup->size);
    send_block(sched, subgroup, args, (subgroup->me + k) % subgroup->size);
    rgi_sched_end_round(sched);
  }
}

/* n blocks of m bytes, one after another. */
typedef struct {
  char *all;
  int n;
  size_t m;
} block_row;

/* Copies the blocks whose number has the bit, between the row and packed. Returns how many. */
static size_t copy_blocks_with_bit(rgi_sched *sched, const block_row *row, long long bit,
                                   char *packed, int pack) {
  size_t count = 0;
  for (int i = 1; i < row->n; i++)
    if (i & bit) {
      char *in_all = row->all + (size_t)i * row->m, *in_packed = packed + count++ * row->m;
      rgi_sched_copy(sched, pack ? in_packed : in_all, pack ? in_all : in_packed, row->m);
    }
  return count;
}

/* Block i has to go i ranks further: for each bit of i one step of that distance, together with
 * all other blocks that have the bit. */
static void alltoall_bruck(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  int n = subgroup->size, me = subgroup->me;
  size_t m = args->bytes, half = (size_t)(n + 1) / 2;
  char *all = rgi_sched_alloc(sched, (size_t)n * m);
  char *out = rgi_sched_alloc(sched, half * m), *in = rgi_sched_alloc(sched, half * m);
  block_row row = {all, n, m};
  rgi_sched_copy(sched, all, args->in + (size_t)me * m, (size_t)(n - me) * m);
  rgi_sched_copy(sched, all + (size_t)(n - me) * m, args->in, (size_t)me * m);
  for (long long bit = 1; bit < n; bit *= 2) {
    size_t blocks = copy_blocks_with_bit(sched, &row, bit, out, 1);
    rgi_sched_send(sched, subgroup, (int)((me + bit) % n), out, blocks * m);
    rgi_sched_receive(sched, subgroup, (int)((me - bit + n) % n), in, blocks * m);
    rgi_sched_end_round(sched);
    copy_blocks_with_bit(sched, &row, bit, in, 0);
  }
  for (int i = 0; i < n; i++)
    rgi_sched_copy(sched, args->out + (size_t)((me - i + n) % n) * m, all + (size_t)i * m, m);
}

/* Sorts what the members of the caller's node send: from sender by sender to target node by
 * target node. */
static void sort_by_target(rgi_sched *sched, const rgi_algorithm_args *args, const char *from,
                           char *to) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  int size = sched->coll->all.size, mine = rgi_hier_node_size(sched, nodes->mine);
  size_t m = args->bytes;
  for (int node = 0; node < nodes->count; node++)
    for (int i = 0; i < mine; i++)
      for (int j = 0; j < rgi_hier_node_size(sched, node); j++, to += m)
        rgi_sched_copy(
            sched, to,
            from + ((size_t)i * (size_t)size + (size_t)rgi_hier_node_member(sched, node, j)) * m,
            m);
}

/* Sorts what the nodes have sent: from source node by source node to receiver by receiver. */
static void sort_by_member(rgi_sched *sched, const rgi_algorithm_args *args, const char *from,
                           char *to) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  int size = sched->coll->all.size, mine = rgi_hier_node_size(sched, nodes->mine);
  size_t m = args->bytes;
  for (int node = 0; node < nodes->count; node++)
    for (int i = 0; i < rgi_hier_node_size(sched, node); i++)
      for (int j = 0; j < mine; j++, from += m)
        rgi_sched_copy(
            sched,
            to + ((size_t)j * (size_t)size + (size_t)rgi_hier_node_member(sched, node, i)) * m,
            from, m);
}

static void alltoall_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                  const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, -1);
  size_t mine = (size_t)rgi_hier_node_size(sched, sched->coll->nodes.mine);
  size_t each = (size_t)subgroup->size * args->bytes;
  int is_leader = leaders.me >= 0;
  char *here = is_leader ? rgi_sched_alloc(sched, mine * each) : NULL;
  char *sorted = is_leader ? rgi_sched_alloc(sched, mine * each) : NULL;
  rgi_algorithm_args gather = {.in = args->in, .out = here, .bytes = each};
  rgi_algorithm_args scatter = {.in = sorted, .out = args->out, .bytes = each};
  rgi_hier_node_gather(sched, RG_OP_ALLTOALL, &gather);
  if (is_leader && !sched->error) {
    rgi_algorithm_args between = {.in = sorted, .out = here, .bytes = mine * args->bytes};
    between.in_blocks = between.out_blocks = rgi_hier_node_blocks(sched, mine * args->bytes);
    rgi_sched_end_round(sched);
    sort_by_target(sched, args, here, sorted);
    rgi_hier_between(sched, RG_OP_ALLTOALL, &leaders, &between);
    sort_by_member(sched, args, here, sorted);
  }
  rgi_hier_node_scatter(sched, RG_OP_ALLTOALL, &scatter);
}

static double alltoall_bruck_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * (params->ts + params->p / 2 * params->n * params->tw);
}

/* The members meet once; each block is copied twice. */
static double alltoall_shared_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts + 2 * (params->p - 1) * params->n * params->tw;
}

/* Where each process has a processor: blocks that fill a chunk, but not shorter than a system call
 * is worth. Otherwise: more than a member gets then no longer fits into the caches. */
static int suits_direct(const rgi_algorithm_inside *call) {
  size_t part = RGI_SHM_CHUNK / call->members, least = (size_t)8 << 10;
  if (!rgi_algorithm_spins(call))
    return call->bytes >= ((size_t)1 << 20) / call->members;
  return call->bytes >= (part > least ? part : least);
}

/* A chunk has room for a byte for each member. */
static int suits_chunks(const rgi_algorithm_inside *call) {
  return call->members <= RGI_SHM_CHUNK;
}

#define COST_SHARED .cost = alltoall_shared_cost, .formula = "lg p t_s + 2 (p - 1) n t_w"

const rgi_algorithm rgi_algorithms_alltoall[] = {
    {"direct", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_READS, RGI_COST_BLOCKS,
     .way = RGI_WAY_DIRECT, .suits = suits_direct},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_SUITED, COST_SHARED,
     .way = RGI_WAY_CHUNKS, .suits = suits_chunks},
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE, COST_SHARED, .way = RGI_WAY_CELLS,
     .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE, COST_SHARED},
    {"linear", alltoall_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"pairwise", alltoall_pairwise, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"bruck", alltoall_bruck, 0, .cost = alltoall_bruck_cost, .formula = "lg p (t_s + p/2 n t_w)"},
    {"hierarchical", alltoall_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "inside the node + between nodes + inside the node"},
    {0}};

const rgi_algorithm rgi_algorithms_alltoallv[] = {
    {"linear", alltoall_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"pairwise", alltoall_pairwise, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {0}};
