/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of broadcast. Trees, chains and rings use ranks counted from the root (v), so
 * that the root is 0. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

/* The pieces of the pipelined broadcast, and how many of them a member expects at once. */
#define SEGMENT ((size_t)64 << 10)
#define SEGMENTS_AHEAD 8

static int from_root(const rgi_subgroup *subgroup, int root) {
  return (subgroup->me - root + subgroup->size) % subgroup->size;
}

static int rank_of(const rgi_subgroup *subgroup, int root, int v) {
  return (int)(((long long)v + root) % subgroup->size);
}

static void bcast_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                         const rgi_algorithm_args *args) {
  if (subgroup->me != args->root)
    rgi_sched_receive(sched, subgroup, args->root, args->out, args->bytes);
  for (int i = 0; i < subgroup->size && subgroup->me == args->root; i++)
    if (i != args->root)
      rgi_sched_send(sched, subgroup, i, args->out, args->bytes);
}

void rgi_algorithm_bcast_binomial(rgi_sched *sched, const rgi_subgroup *subgroup,
                                  const rgi_algorithm_args *args) {
  int child[RGI_BINOMIAL_CHILDREN], v = from_root(subgroup, args->root);
  int parent = rgi_binomial_parent(v);
  if (parent >= 0) {
    rgi_sched_receive(sched, subgroup, rank_of(subgroup, args->root, parent), args->out,
                      args->bytes);
    rgi_sched_end_round(sched);
  }
  for (int i = rgi_binomial_children(v, subgroup->size, child) - 1; i >= 0; i--)
    rgi_sched_send(sched, subgroup, rank_of(subgroup, args->root, child[i]), args->out,
                   args->bytes);
}

static size_t segment_at(const rgi_algorithm_args *args, size_t i) {
  return i * SEGMENT < args->bytes ? i * SEGMENT : args->bytes;
}

/* Along a chain, piece by piece: a member passes one piece on while it receives the next ones.
 * It posts several receives in advance, since a long message begins only when its receive is
 * posted. */
static void bcast_pipelined(rgi_sched *sched, const rgi_subgroup *subgroup,
                            const rgi_algorithm_args *args) {
  int v = from_root(subgroup, args->root), last = v == subgroup->size - 1, begun = 0,
      came[SEGMENTS_AHEAD];
  size_t pieces = args->bytes ? (args->bytes + SEGMENT - 1) / SEGMENT : 1, asked = 0;
  rgi_sched_end_round(sched);
  for (size_t i = 0; i < pieces; i++) {
    for (; v > 0 && asked < pieces && asked < i + SEGMENTS_AHEAD; asked++) {
      rgi_sched_receive(sched, subgroup, rank_of(subgroup, args->root, v - 1),
                        args->out + segment_at(args, asked),
                        segment_at(args, asked + 1) - segment_at(args, asked));
      came[asked % SEGMENTS_AHEAD] = ++begun;
    }
    if (v > 0)
      rgi_sched_await_first(sched, came[i % SEGMENTS_AHEAD]);
    if (!last)
      rgi_sched_send(sched, subgroup, rank_of(subgroup, args->root, v + 1),
                     args->out + segment_at(args, i),
                     segment_at(args, i + 1) - segment_at(args, i));
    begun += !last;
  }
}

/* Piece v of the buffer. */
static size_t piece_at(const rgi_algorithm_args *args, int pieces, long long v) {
  size_t each = (args->bytes + (size_t)pieces - 1) / (size_t)pieces, at = each * (size_t)v;
  return at < args->bytes ? at : args->bytes;
}

/* Scatter by recursive halving, where a child gets the pieces of its subtree; then allgather
 * round a ring. */
static void bcast_scatter_allgather(rgi_sched *sched, const rgi_subgroup *subgroup,
                                    const rgi_algorithm_args *args) {
  int child[RGI_BINOMIAL_CHILDREN], n = subgroup->size, v = from_root(subgroup, args->root);
  int parent = rgi_binomial_parent(v), children = rgi_binomial_children(v, n, child);
  long long end = v ? v + (v & -v) : n;
  size_t mine = piece_at(args, n, v), last = piece_at(args, n, end < n ? end : n);
  if (parent >= 0) {
    rgi_sched_receive(sched, subgroup, rank_of(subgroup, args->root, parent), args->out + mine,
                      last - mine);
    rgi_sched_end_round(sched);
  }
  for (int i = children - 1; i >= 0; i--) {
    size_t begin = piece_at(args, n, child[i]);
    rgi_sched_send(sched, subgroup, rank_of(subgroup, args->root, child[i]), args->out + begin,
                   last - begin);
    last = begin;
  }
  rgi_sched_end_round(sched);
  for (int k = 0; k < n - 1; k++) {
    int out = (v - k + n) % n, in = (v - k - 1 + n) % n;
    rgi_sched_send(sched, subgroup, rank_of(subgroup, args->root, (v + 1) % n),
                   args->out + piece_at(args, n, out),
                   piece_at(args, n, out + 1) - piece_at(args, n, out));
    rgi_sched_receive(sched, subgroup, rank_of(subgroup, args->root, (v - 1 + n) % n),
                      args->out + piece_at(args, n, in),
                      piece_at(args, n, in + 1) - piece_at(args, n, in));
    rgi_sched_end_round(sched);
  }
}

/* One copy goes to each node. */
static void bcast_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                               const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, args->root);
  rgi_algorithm_args between = *args;
  (void)subgroup;
  between.root = sched->coll->nodes.of[args->root];
  rgi_hier_between(sched, RG_OP_BCAST, &leaders, &between);
  rgi_hier_node_bcast(sched, RG_OP_BCAST, args->out, args->bytes,
                      rgi_hier_leader_local_rank(sched, &leaders));
}

static double bcast_binomial_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * (params->ts + params->n * params->tw);
}

static double bcast_pipelined_cost(const rgi_cost_params *params) {
  double k = params->n > (double)SEGMENT ? params->n / (double)SEGMENT : 1;
  return params->p > 1 ? (params->p - 2 + k) * (params->ts + params->n / k * params->tw) : 0;
}

static double bcast_scatter_allgather_cost(const rgi_cost_params *params) {
  return (rgi_cost_lg(params->p) + params->p - 1) * params->ts +
         2 * (params->p - 1) / params->p * params->n * params->tw;
}

static double bcast_shared_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts + 2 * params->n * params->tw;
}

static double bcast_direct_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts + params->n * params->tw;
}

/* Every level copies the data once more: longer ones are faster when all read from the root. */
static int suits_levels(const rgi_algorithm_inside *call) {
  return call->bytes <= RGI_SHM_SMALL;
}

/* Where processes share processors the root's copy into the buffer runs beside other copies, and a
 * root that waits must run once more. */
static int suits_direct(const rgi_algorithm_inside *call) {
  return call->bytes >=
         (rgi_algorithm_spins(call) ? RGI_ALGORITHM_DIRECT_LEAST : (size_t)256 << 10);
}

#define COST_SHARED .cost = bcast_shared_cost, .formula = "lg p t_s + 2 n t_w"
#define COST_DIRECT .cost = bcast_direct_cost, .formula = "lg p t_s + n t_w"
#define COST_BINOMIAL .cost = bcast_binomial_cost, .formula = "lg p (t_s + n t_w)"

const rgi_algorithm rgi_algorithms_bcast[] = {
    {"levels", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_LEVELS | RGI_ALGORITHM_SUITED,
     COST_BINOMIAL, .way = RGI_WAY_LEVELS, .suits = suits_levels},
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE, COST_SHARED, .way = RGI_WAY_CELLS,
     .suits = rgi_algorithm_tiny},
    {"spread", NULL,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_READS | RGI_ALGORITHM_SPINS | RGI_ALGORITHM_THREE |
         RGI_ALGORITHM_SUITED,
     COST_DIRECT, .way = RGI_WAY_SPREAD, .suits = suits_direct},
    {"direct", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_READS, COST_DIRECT,
     .way = RGI_WAY_DIRECT, .suits = suits_direct},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE, COST_SHARED, .way = RGI_WAY_CHUNKS,
     .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE, COST_SHARED},
    {"linear", bcast_linear, 0, RGI_COST_BLOCKS},
    {"binomial", rgi_algorithm_bcast_binomial, 0, COST_BINOMIAL},
    {"pipelined", bcast_pipelined, 0, .cost = bcast_pipelined_cost,
     .formula = "(p - 2 + k) (t_s + n/k t_w), k = n / 64 KiB"},
    {"scatter-allgather", bcast_scatter_allgather, 0, .cost = bcast_scatter_allgather_cost,
     .formula = "(lg p + p - 1) t_s + 2 (p - 1)/p n t_w"},
    {"hierarchical", bcast_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "between nodes + inside the node"},
    {0}};
