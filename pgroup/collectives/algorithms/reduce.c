/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of reduce. Each combines operands in the order of ranks,
 * unless the operation commutes. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/fold.h"
#include "formation/binomial.h"

/* The root combines the operands from the last rank to the first; while it combines one, it
 * receives the next. */
static void reduce_linear(rgi_sched *sched, const rgi_subgroup *subgroup,
                          const rgi_algorithm_args *args) {
  int last = subgroup->size - 1;
  if (subgroup->me != args->root) {
    rgi_sched_send(sched, subgroup, args->root, args->in, args->bytes);
    return;
  }
  char *room[2] = {rgi_sched_alloc(sched, args->bytes), rgi_sched_alloc(sched, args->bytes)};
  const char *own = args->in;
  if (args->in == args->out && args->root != last) {
    char *copy = rgi_sched_alloc(sched, args->bytes);
    rgi_sched_copy(sched, copy, args->in, args->bytes);
    own = copy;
  }
  if (last == args->root)
    rgi_sched_copy(sched, args->out, own, args->bytes);
  else
    rgi_sched_receive(sched, subgroup, last, args->out, args->bytes);
  for (int i = last - 1; i >= -1; i--) {
    rgi_sched_end_round(sched); /* rank i + 1's operand is here */
    if (i >= 0 && i != args->root)
      rgi_sched_receive(sched, subgroup, i, room[i % 2], args->bytes);
    if (i + 1 < last)
      rgi_sched_reduce_right(sched, i + 1 == args->root ? own : room[(i + 1) % 2], args->out,
                             args->bytes);
  }
}

/* Up a binomial tree. Its top is the root or, for an operation that does not commute, rank 0,
 * which sends the result to the root. */
void rgi_algorithm_reduce_tree(rgi_sched *sched, const rgi_subgroup *subgroup,
                               const rgi_algorithm_args *args) {
  int top = sched->reduction.commutes ? args->root : 0, n = subgroup->size,
      v = (subgroup->me - top + n) % n;
  int child[RGI_BINOMIAL_CHILDREN], children = rgi_binomial_children(v, n, child);
  int parent = rgi_binomial_parent(v);
  const char *result = args->in;
  if (children) {
    char *acc = subgroup->me == args->root ? args->out : rgi_sched_alloc(sched, args->bytes);
    char *room = rgi_sched_alloc(sched, args->bytes);
    rgi_sched_copy(sched, acc, args->in, args->bytes);
    for (int i = 0; i < children; i++) {
      rgi_sched_receive(sched, subgroup, (child[i] + top) % n, room, args->bytes);
      rgi_sched_end_round(sched);
      rgi_sched_reduce_left(sched, acc, room, args->bytes);
    }
    result = acc;
  }
  if (parent >= 0)
    rgi_sched_send(sched, subgroup, (parent + top) % n, result, args->bytes);
  rgi_sched_end_round(sched);
  if (subgroup->me == top && top != args->root)
    rgi_sched_send(sched, subgroup, args->root, result, args->bytes);
  else if (subgroup->me == args->root && top != args->root)
    rgi_sched_receive(sched, subgroup, top, args->out, args->bytes);
  else if (subgroup->me == args->root)
    rgi_sched_copy(sched, args->out, result, args->bytes);
}

/* Reduce-scatter by recursive halving, then gather over the same partners in reverse. */
static void reduce_rabenseifner(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  rgi_fold fold = rgi_fold_of(subgroup, args->root);
  rgi_fold_vector vector;
  rgi_fold_range part[RGI_FOLD_HALVINGS];
  size_t unit = sched->reduction.datatype.size;
  char *acc = subgroup->me == args->root ? args->out : rgi_sched_alloc(sched, args->bytes);
  int root = rgi_fold_number(&fold, args->root), k = 0;
  vector = rgi_fold_vector_of(sched, acc, args->bytes);
  rgi_sched_copy(sched, acc, args->in, args->bytes);
  rgi_fold_in(sched, subgroup, &fold, &vector);
  if (fold.me < 0)
    return;
  rgi_fold_reduce_scatter(sched, subgroup, &fold, &vector, part);
  while (1 << k < fold.size)
    k++;
  while (k-- > 0) {
    int other = rgi_fold_rank(&fold, fold.me ^ 1 << k);
    if ((fold.me ^ root) & 1 << k) {
      rgi_sched_send(sched, subgroup, other, acc + part[k + 1].low * unit,
                     (part[k + 1].high - part[k + 1].low) * unit);
      return;
    }
    rgi_fold_range theirs = rgi_fold_other_half(part, k);
    rgi_sched_receive(sched, subgroup, other, acc + theirs.low * unit,
                      (theirs.high - theirs.low) * unit);
    rgi_sched_end_round(sched);
  }
}

static void reduce_hierarchical(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, args->root);
  int is_leader = leaders.me >= 0, place = rgi_hier_leader_local_rank(sched, &leaders);
  char *sum = subgroup->me == args->root ? args->out
              : is_leader                ? rgi_sched_alloc(sched, args->bytes)
                                         : NULL;
  rgi_algorithm_args between = *args;
  rgi_algorithm_args inside = {.in = args->in, .out = sum, .bytes = args->bytes, .root = place};
  rgi_hier_node_reduce(sched, RG_OP_REDUCE, &inside);
  between.in = sum;
  between.root = sched->coll->nodes.of[args->root];
  rgi_hier_between(sched, RG_OP_REDUCE, &leaders, &between);
}

/* A leader combines whole vectors: longer ones are faster when all members share the work. */
static int suits_levels(const rgi_algorithm_inside *call) {
  return call->bytes <= RGI_NODE_COLL_LEVELS_MOST;
}

/* Up to so many bytes it takes the root less time to combine all operands than it takes all members
 * to meet twice. Where the others run beside the root they would share the work, and it reads
 * the lines of all of them: there the limit falls by their number squared, from 16 KiB on. */
static int suits_once(const rgi_algorithm_inside *call) {
  size_t others = call->members - 1;
  return call->bytes <= (size_t)8 << 10 &&
         (!rgi_algorithm_spins(call) || call->bytes * others * others <= (size_t)16 << 10);
}

const rgi_algorithm rgi_algorithms_reduce[] = {
    {"levels", NULL,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_OF_MPI | RGI_ALGORITHM_LEVELS |
         RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_TREE, .way = RGI_WAY_LEVELS, .suits = suits_levels},
    {"cells", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_LINEAR,
     .way = RGI_WAY_CELLS, .suits = rgi_algorithm_tiny},
    {"once", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES | RGI_ALGORITHM_SUITED,
     RGI_COST_REDUCE_LINEAR, .way = RGI_WAY_ONCE, .suits = suits_once},
    {"chunks", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM,
     .way = RGI_WAY_CHUNKS, .suits = rgi_algorithm_always},
    {"shared", NULL, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM},
    {"linear", reduce_linear, 0, RGI_COST_REDUCE_LINEAR},
    {"tree", rgi_algorithm_reduce_tree, 0, RGI_COST_REDUCE_TREE},
    {"rabenseifner", reduce_rabenseifner, RGI_ALGORITHM_DIVIDES, RGI_COST_RABENSEIFNER},
    {"hierarchical", reduce_hierarchical, RGI_ALGORITHM_NODES, .cost = NULL,
     .formula = "inside the node + between nodes"},
    {0}};
