/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of allreduce. By each of them all members get the same bits: an element is
 * combined on one member, or from the same operands on all. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/fold.h"

/* Reduce to rank 0, broadcast from there. */
static void allreduce_tree(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  rgi_algorithm_args part = *args;
  part.root = 0;
  rgi_algorithm_reduce_tree(sched, subgroup, &part);
  rgi_sched_end_round(sched);
  rgi_algorithm_bcast_binomial(sched, subgroup, &part);
}

/* Recursive doubling: partners exchange their partial results. */
static void allreduce_butterfly(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  rgi_fold fold = rgi_fold_of(subgroup, -1);
  rgi_fold_vector vector = rgi_fold_vector_of(sched, args->out, args->bytes);
  rgi_sched_copy(sched, args->out, args->in, args->bytes);
  rgi_fold_in(sched, subgroup, &fold, &vector);
  for (int bit = 1; bit < fold.size && fold.me >= 0; bit *= 2) {
    int other = rgi_fold_rank(&fold, fold.me ^ bit);
    rgi_sched_send(sched, subgroup, other, args->out, args->bytes);
    rgi_sched_receive(sched, subgroup, other, vector.room, args->bytes);
    rgi_sched_end_round(sched);
    rgi_fold_combine(sched, other < subgroup->me, args->out, vector.room, args->bytes);
  }
  rgi_fold_out(sched, subgroup, &fold, &vector);
}

/* Reduce-scatter by recursive halving, then allgather over the same partners in reverse. */
static void allreduce_rabenseifner(rgi_sched *sched, const rgi_subgroup *subgroup,
                                   const rgi_algorithm_args *args) {
  rgi_fold fold = rgi_fold_of(subgroup, -1);
  rgi_fold_range part[RGI_FOLD_HALVINGS];
  rgi_fold_vector vector = rgi_fold_vector_of(sched, args->out, args->bytes);
  size_t unit = vector.unit;
  int k = 0;
  rgi_sched_copy(sched, args->out, args->in, args->bytes);
  rgi_fold_in(sched, subgroup, &fold, &vector);
  if (fold.me >= 0)
    rgi_fold_reduce_scatter(sched, subgroup, &fold, &vector, part);
  while (1 << k < fold.size)
    k++;
  while (k-- > 0 && fold.me >= 0) {
    int other = rgi_fold_rank(&fold, fold.me ^ 1 << k);
    rgi_fold_range mine = part[k + 1], theirs = rgi_fold_other_half(part, k);
    rgi_sched_send(sched, subgroup, other, args->out + mine.low * unit,
                   (mine.high - mine.low) * unit);
    rgi_sched_receive(sched, subgroup, other, args->out + theirs.low * unit,
                      (theirs.high - theirs.low) * unit);
    rgi_sched_end_round(sched);
  }
  rgi_fold_out(sched, subgroup, &fold, &vector);
}

/* Where piece i of n begins. */
static size_t piece_at(const rgi_sched *sched, const rgi_algorithm_args *args, int i, int n) {
  size_t unit = sched->reduction.datatype.size, units = unit ? args->bytes / unit : 0;
  size_t each = units / (size_t)n, more = units % (size_t)n;
  return ((size_t)i * each + ((size_t)i < more ? (size_t)i : more)) * unit;
}

/* Each piece goes round the ring once, where every member adds its operand, and then a second
 * time, as the result. */
static void allreduce_ring(rgi_sched *sched, const rgi_subgroup *subgroup,
                           const rgi_algorithm_args *args) {
  int n = subgroup->size, to = (subgroup->me + 1) % n, from = (subgroup->me - 1 + n) % n;
  char *room = rgi_sched_alloc(sched, piece_at(sched, args, 1, n));
  rgi_sched_copy(sched, args->out, args->in, args->bytes);
  for (int k = 0; k < 2 * (n - 1); k++) {
    int out = (subgroup->me - k + 2 * n) % n, in = (subgroup->me - k - 1 + 2 * n) % n,
        adds = k < n - 1;
    size_t at = piece_at(sched, args, in, n), bytes = piece_at(sched, args, in + 1, n) - at;
    size_t sent = piece_at(sched, args, out, n);
    rgi_sched_send(sched, subgroup, to, args->out + sent, piece_at(sched, args, out + 1, n) - sent);
    rgi_sched_receive(sched, subgroup, from, adds ? room : args->out + at, bytes);
    rgi_sched_end_round(sched);
    if (adds)
      rgi_sched_reduce_left(sched, args->out + at, room, bytes);
  }
}

static void allreduce_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                   const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, -1);
  rgi_algorithm_args between = *args;
  (void)subgroup;
  between.in = args->out;
  rgi_algorithm_args inside = {.in = args->in, .out = args->out, .bytes = args->bytes};
  rgi_hier_node_reduce(sched, RG_OP_ALLREDUCE, &inside);
  rgi_hier_between(sched, RG_OP_ALLREDUCE, &leaders, &between);
  rgi_hier_node_bcast(sched, RG_OP_ALLREDUCE, args->out, args->bytes, 0);
}

static double allreduce_tree_cost(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * (2 * params->ts + params->n * (2 * params->tw + params->tc));
}

static double allreduce_ring_cost(const rgi_cost_params *params) {
  return 2 * (params->p - 1) * params->ts +
         (params->p - 1) / params->p * params->n * (2 * params->tw + params->tc);
}

/* A leader combines whole vectors: longer ones are faster when all members share the work. */
static int suits_levels(const rgi_algorithm_inside *call) {
  return call->bytes <= RGI_NODE_COLL_LEVELS_MOST;
}

const rgi_algorithm rgi_algorithms_allreduce[] = {
    {"levels", NULL,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_OF_MPI | RGI_ALGORITHM_LEVELS |
         RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_TREE, .way = RGI_WAY_LEVELS, .suits = suits_levels},
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_LINEAR,
     .way = RGI_WAY_CELLS, .suits = rgi_algorithm_tiny},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM,
     .way = RGI_WAY_CHUNKS, .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM},
    {"tree", allreduce_tree, 0, .cost = allreduce_tree_cost,
     .formula = "lg p (2 t_s + n (2 t_w + t_c))"},
    {"butterfly", allreduce_butterfly, 0, RGI_COST_REDUCE_TREE},
    {"rabenseifner", allreduce_rabenseifner, RGI_ALGORITHM_DIVIDES, RGI_COST_RABENSEIFNER},
    {"ring", allreduce_ring, RGI_ALGORITHM_COMMUTES | RGI_ALGORITHM_DIVIDES,
     .cost = allreduce_ring_cost, .formula = "2 (p - 1) t_s + (p - 1)/p n (2 t_w + t_c)"},
    {"hierarchical", allreduce_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "inside the node + between nodes + inside the node"},
    {0}};
