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
static void reduce_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int last = t->size - 1;
  if (t->me != p->root) {
    rgi_sched_send(s, t, p->root, p->in, p->bytes);
    return;
  }
  char *room[2] = {rgi_sched_alloc(s, p->bytes), rgi_sched_alloc(s, p->bytes)};
  const char *own = p->in;
  if (p->in == p->out && p->root != last) {
    char *copy = rgi_sched_alloc(s, p->bytes);
    rgi_sched_copy(s, copy, p->in, p->bytes);
    own = copy;
  }
  if (last == p->root)
    rgi_sched_copy(s, p->out, own, p->bytes);
  else
    rgi_sched_receive(s, t, last, p->out, p->bytes);
  for (int i = last - 1; i >= -1; i--) {
    rgi_sched_end_round(s); /* rank i + 1's operand is here */
    if (i >= 0 && i != p->root)
      rgi_sched_receive(s, t, i, room[i % 2], p->bytes);
    if (i + 1 < last)
      rgi_sched_reduce_right(s, i + 1 == p->root ? own : room[(i + 1) % 2], p->out, p->bytes);
  }
}

/* Up a binomial tree. Its top is the root or, for an operation that does not commute, rank 0,
 * which sends the result to the root. */
static void reduce_tree(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int top = s->reduction.commutes ? p->root : 0, n = t->size, v = (t->me - top + n) % n;
  int child[RGI_BINOMIAL_CHILDREN], children = rgi_binomial_children(v, n, child);
  int parent = rgi_binomial_parent(v);
  const char *result = p->in;
  if (children) {
    char *acc = t->me == p->root ? p->out : rgi_sched_alloc(s, p->bytes);
    char *room = rgi_sched_alloc(s, p->bytes);
    rgi_sched_copy(s, acc, p->in, p->bytes);
    for (int i = 0; i < children; i++) {
      rgi_sched_receive(s, t, (child[i] + top) % n, room, p->bytes);
      rgi_sched_end_round(s);
      rgi_sched_reduce_left(s, acc, room, p->bytes);
    }
    result = acc;
  }
  if (parent >= 0)
    rgi_sched_send(s, t, (parent + top) % n, result, p->bytes);
  rgi_sched_end_round(s);
  if (t->me == top && top != p->root)
    rgi_sched_send(s, t, p->root, result, p->bytes);
  else if (t->me == p->root && top != p->root)
    rgi_sched_receive(s, t, top, p->out, p->bytes);
  else if (t->me == p->root)
    rgi_sched_copy(s, p->out, result, p->bytes);
}

/* Reduce-scatter by recursive halving, then gather over the same partners in reverse. */
static void reduce_rabenseifner(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_fold f = rgi_fold_of(t, p->root);
  rgi_fold_vector v;
  rgi_fold_range part[RGI_FOLD_HALVINGS];
  size_t unit = s->reduction.datatype.size;
  char *acc = t->me == p->root ? p->out : rgi_sched_alloc(s, p->bytes);
  int root = rgi_fold_number(&f, p->root), k = 0;
  v = rgi_fold_vector_of(s, acc, p->bytes);
  rgi_sched_copy(s, acc, p->in, p->bytes);
  rgi_fold_in(s, t, &f, &v);
  if (f.me < 0)
    return;
  rgi_fold_reduce_scatter(s, t, &f, &v, part);
  while (1 << k < f.size)
    k++;
  while (k-- > 0) {
    int other = rgi_fold_rank(&f, f.me ^ 1 << k);
    if ((f.me ^ root) & 1 << k) {
      rgi_sched_send(s, t, other, acc + part[k + 1].low * unit,
                     (part[k + 1].high - part[k + 1].low) * unit);
      return;
    }
    rgi_fold_range theirs = rgi_fold_other_half(part, k);
    rgi_sched_receive(s, t, other, acc + theirs.low * unit, (theirs.high - theirs.low) * unit);
    rgi_sched_end_round(s);
  }
}

static void reduce_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, p->root);
  int is_leader = leaders.me >= 0, place = rgi_hier_leader_local_rank(s, &leaders);
  char *sum = t->me == p->root ? p->out : is_leader ? rgi_sched_alloc(s, p->bytes) : NULL;
  rgi_algorithm_args between = *p;
  rgi_algorithm_args inside = {.in = p->in, .out = sum, .bytes = p->bytes, .root = place};
  rgi_hier_node_reduce(s, RG_OP_REDUCE, &inside);
  between.in = sum;
  between.root = s->coll->nodes.of[p->root];
  rgi_hier_between(s, RG_OP_REDUCE, &leaders, &between);
}

static void reduce_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_REDUCE, p->root, p->out, p->in, p->bytes});
}

const rgi_algorithm rgi_algorithms_reduce[] = {
    {"linear", reduce_linear, 0, RGI_COST_REDUCE_LINEAR},
    {"tree", reduce_tree, 0, RGI_COST_REDUCE_TREE},
    {"rabenseifner", reduce_rabenseifner, RGI_ALGORITHM_DIVIDES, RGI_COST_RABENSEIFNER},
    {"hierarchical", reduce_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "inside the node + between nodes"},
    {"shared", reduce_shared, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES, RGI_COST_REDUCE_SHM},
    {0}};
