/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of reduce-scatter; all of them take blocks of different
 * sizes. The hierarchical one reduces on each node, reduce-scatters the nodes'
 * blocks between the leaders and scatters them on each node. */
#include "collectives/algorithms/choice.h"
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/fold.h"

static size_t all_bytes(const rgi_subgroup *subgroup, const rgi_algorithm_args *args) {
  int last = subgroup->size - 1;
  return rgi_blocks_at(&args->in_blocks, last) + rgi_blocks_length(&args->in_blocks, last);
}

/* The ranks whose blocks a new number stands for: its own, and that of its pair. */
static rgi_fold_range ranks_of(const rgi_fold *fold, int number) {
  if (number < fold->extra)
    return (rgi_fold_range){2 * (size_t)number, 2 * (size_t)number + 2};
  size_t rank = (size_t)number + (size_t)fold->extra;
  return (rgi_fold_range){rank, rank + 1};
}

static int reversed_bits(int number, int size) {
  int r = 0;
  for (int bit = 1; bit < size; bit *= 2, number /= 2)
    r = 2 * r + number % 2;
  return r;
}

static size_t block_offset(const rgi_subgroup *subgroup, const rgi_algorithm_args *args,
                           size_t rank) {
  return (int)rank < subgroup->size ? rgi_blocks_at(&args->in_blocks, (int)rank)
                                    : all_bytes(subgroup, args);
}

/* Recursive halving. Neighbours are partners first, which keeps operands in order. So number i
 * ends with the part whose place is i with its bits reversed: the blocks are copied to such
 * places at the start. */
static void reduce_scatter_halving(rgi_sched *sched, const rgi_subgroup *subgroup,
                                   const rgi_algorithm_args *args) {
  rgi_fold fold = rgi_fold_of(subgroup, -1);
  rgi_fold_range part[RGI_FOLD_HALVINGS];
  size_t bytes = all_bytes(subgroup, args),
         *at = rgi_sched_alloc(sched, ((size_t)fold.size + 1) * sizeof *at), end = 0;
  char *acc = rgi_sched_alloc(sched, bytes);
  rgi_fold_vector vector = rgi_fold_vector_of(sched, acc, bytes);
  if (sched->error)
    return;
  for (int place = 0; place < fold.size; place++) {
    rgi_fold_range ranks = ranks_of(&fold, reversed_bits(place, fold.size));
    size_t from = block_offset(subgroup, args, ranks.low),
           length = block_offset(subgroup, args, ranks.high) - from;
    rgi_sched_copy(sched, acc + end, args->in + from, length);
    at[place] = end;
    end += length;
  }
  at[fold.size] = end;
  rgi_fold_in(sched, subgroup, &fold, &vector);
  if (fold.me < 0) { /* its partner has the block */
    rgi_sched_receive(sched, subgroup, subgroup->me ^ 1, args->out, args->bytes);
    return;
  }
  vector.units = (size_t)fold.size;
  vector.at = at;
  rgi_fold_reduce_scatter(sched, subgroup, &fold, &vector, part);
  char *result = acc + at[reversed_bits(fold.me, fold.size)];
  if (fold.me < fold.extra) { /* it holds the blocks of both: its own is the second */
    size_t first = rgi_blocks_length(&args->in_blocks, subgroup->me ^ 1);
    rgi_sched_send(sched, subgroup, subgroup->me ^ 1, result, first);
    result += first;
  }
  rgi_sched_copy(sched, args->out, result, args->bytes);
}

/* A block starts at the rank after its owner and goes round the ring, where every member
 * adds its operand. */
static void reduce_scatter_ring(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  int n = subgroup->size;
  size_t bytes = all_bytes(subgroup, args), most = 0;
  for (int i = 0; i < n; i++)
    if (rgi_blocks_length(&args->in_blocks, i) > most)
      most = rgi_blocks_length(&args->in_blocks, i);
  char *acc = rgi_sched_alloc(sched, bytes), *room = rgi_sched_alloc(sched, most);
  rgi_sched_copy(sched, acc, args->in, bytes);
  for (int k = 0; k < n - 1; k++) {
    int out = (subgroup->me - 1 - k + 2 * n) % n, in = (subgroup->me - 2 - k + 2 * n) % n;
    rgi_sched_send(sched, subgroup, (subgroup->me + 1) % n,
                   acc + rgi_blocks_at(&args->in_blocks, out),
                   rgi_blocks_length(&args->in_blocks, out));
    rgi_sched_receive(sched, subgroup, (subgroup->me - 1 + n) % n, room,
                      rgi_blocks_length(&args->in_blocks, in));
    rgi_sched_end_round(sched);
    rgi_sched_reduce_left(sched, acc + rgi_blocks_at(&args->in_blocks, in), room,
                          rgi_blocks_length(&args->in_blocks, in));
  }
  rgi_sched_copy(sched, args->out, acc + rgi_blocks_at(&args->in_blocks, subgroup->me),
                 args->bytes);
}

/* Blocks in the order of nodes: where each node's begin, and those of the members on the
 * caller's node. */
typedef struct {
  rgi_blocks nodes, members;
} blocks_by_node;

static blocks_by_node order_by_node(rgi_sched *sched, const rgi_algorithm_args *args) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  int mine = rgi_hier_node_size(sched, nodes->mine);
  size_t *at = rgi_sched_alloc(sched, 2 * (size_t)nodes->count * sizeof *at),
         *length = at + nodes->count;
  size_t *my_at = rgi_sched_alloc(sched, 2 * (size_t)mine * sizeof *my_at),
         *my_length = my_at + mine;
  size_t end = 0;
  if (sched->error)
    return (blocks_by_node){{0, NULL, NULL}, {0, NULL, NULL}};
  for (int node = 0; node < nodes->count; node++) {
    at[node] = end;
    for (int i = 0; i < rgi_hier_node_size(sched, node); i++) {
      size_t bytes = rgi_blocks_length(&args->in_blocks, rgi_hier_node_member(sched, node, i));
      if (node == nodes->mine) {
        my_at[i] = end - at[node];
        my_length[i] = bytes;
      }
      end += bytes;
    }
    length[node] = end - at[node];
  }
  return (blocks_by_node){{0, at, length}, {0, my_at, my_length}};
}

static void reduce_scatter_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                        const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, -1);
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  size_t bytes = all_bytes(subgroup, args), end = 0;
  blocks_by_node order = order_by_node(sched, args);
  int is_leader = leaders.me >= 0;
  char *sum = is_leader ? rgi_sched_alloc(sched, bytes) : NULL, *sorted = sum, *here = NULL;
  rgi_algorithm_args reduce = {.in = args->in, .out = sum, .bytes = bytes};
  rgi_hier_node_reduce(sched, RG_OP_REDUCE_SCATTER, &reduce);
  if (sched->error)
    return;
  rgi_sched_end_round(sched);
  if (is_leader) {
    here = rgi_sched_alloc(sched, order.nodes.length[nodes->mine]);
    sorted = nodes->in_order ? sum : rgi_sched_alloc(sched, bytes);
    for (int i = 0; i < subgroup->size && sorted != sum; i++) {
      int rank = nodes->by_node[i];
      rgi_sched_copy(sched, sorted + end, sum + rgi_blocks_at(&args->in_blocks, rank),
                     rgi_blocks_length(&args->in_blocks, rank));
      end += rgi_blocks_length(&args->in_blocks, rank);
    }
    rgi_algorithm_args between = {.in = sorted, .in_blocks = order.nodes, .out = here};
    between.bytes = order.nodes.length[nodes->mine];
    rgi_hier_between(sched, RG_OP_REDUCE_SCATTER, &leaders, &between);
  }
  rgi_algorithm_args inside = {
      .in = here, .in_blocks = order.members, .out = args->out, .bytes = args->bytes};
  rgi_choice_build(sched, RG_OP_SCATTERV, -1, &nodes->inside, &inside);
}

/* Where the blocks differ or are combined as a whole it is an allreduce, by one of its ways: the
 * work is shared, and a copy inside a node is cheap. */
static void reduce_scatter_shared(rgi_sched *sched, const rgi_subgroup *subgroup,
                                  const rgi_algorithm_args *args) {
  size_t bytes = all_bytes(subgroup, args);
  if (!args->in_blocks.length && !sched->reduction.whole) {
    rgi_sched_add(sched, (rgi_sched_step){.kind = RGI_SCHED_SHM_REDUCE_SCATTER,
                                          .to = args->out,
                                          .from = args->in,
                                          .bytes = args->bytes,
                                          .way = args->way});
    return;
  }
  char *sum = rgi_sched_alloc(sched, bytes);
  rgi_sched_add(sched, (rgi_sched_step){.kind = RGI_SCHED_SHM_REDUCE,
                                        .peer = RGI_SCHED_ALL,
                                        .to = sum,
                                        .from = args->in,
                                        .bytes = bytes,
                                        .way = rgi_choice_inside(sched, RG_OP_ALLREDUCE, bytes)});
  rgi_sched_copy(sched, args->out, sum + rgi_blocks_at(&args->in_blocks, subgroup->me),
                 args->bytes);
}

static double reduce_scatter_halving_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts +
         (params->p - 1) * params->n * (params->tw + params->tc);
}

static double reduce_scatter_shared_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts +
         params->n * (params->p * params->tw + (params->p - 1) * params->tc);
}

/* The whole vector has room in a cell. */
static int suits_cells(const rgi_algorithm_inside *call) {
  return call->bytes * call->members <= RGI_SHM_TINY;
}

/* Long blocks, of which a member's part of the buffer has room for long pieces from all. */
static int suits_direct(const rgi_algorithm_inside *call) {
  return call->bytes >= RGI_ALGORITHM_DIRECT_LEAST &&
         RGI_SHM_CHUNKS * RGI_SHM_CHUNK >= RGI_ALGORITHM_DIRECT_LEAST * call->members;
}

#define COST_SHARED                                                                                \
  .cost = reduce_scatter_shared_cost, .formula = "lg p t_s + n (p t_w + (p - 1) t_c)"

const rgi_algorithm rgi_algorithms_reduce_scatter[] = {
    {"levels", reduce_scatter_shared,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_OF_MPI | RGI_ALGORITHM_LEVELS |
         RGI_ALGORITHM_EVEN | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_TREE, .way = RGI_WAY_LEVELS, .suits = suits_cells},
    {"cells", reduce_scatter_shared,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_EVEN, RGI_COST_REDUCE_LINEAR,
     .way = RGI_WAY_CELLS, .suits = suits_cells},
    {"direct", reduce_scatter_shared,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_OF_MPI | RGI_ALGORITHM_READS |
         RGI_ALGORITHM_SPINS | RGI_ALGORITHM_THREE | RGI_ALGORITHM_EVEN | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_LINEAR, .way = RGI_WAY_DIRECT, .suits = suits_direct},
    {"chunks", reduce_scatter_shared,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_UNEVEN, COST_SHARED,
     .way = RGI_WAY_CHUNKS, .suits = rgi_algorithm_always},
    {"shared", reduce_scatter_shared,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_UNEVEN, COST_SHARED},
    {"halving", reduce_scatter_halving, RGI_ALGORITHM_UNEVEN, .cost = reduce_scatter_halving_cost,
     .formula = "lg p t_s + (p - 1) n (t_w + t_c)"},
    {"ring", reduce_scatter_ring, RGI_ALGORITHM_COMMUTES | RGI_ALGORITHM_UNEVEN,
     RGI_COST_REDUCE_LINEAR},
    {"hierarchical", reduce_scatter_hierarchical, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN,
     .cost = NULL, .formula = "inside the node + between nodes + inside the node"},
    {0}};
