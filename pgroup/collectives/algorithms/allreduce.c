/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of allreduce. By each of them all members get the same bits: an element is
 * combined on one member, or from the same operands on all. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/fold.h"

/* Reduce to rank 0, broadcast from there. */
static void allreduce_tree(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_algorithm_args part = *p;
  part.root = 0;
  rgi_algorithms_reduce[1].build(s, t, &part);
  rgi_sched_end_round(s);
  rgi_algorithms_bcast[1].build(s, t, &part);
}

/* Recursive doubling: partners exchange their partial results. */
static void allreduce_butterfly(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_fold f = rgi_fold_of(t, -1);
  rgi_fold_vector v = rgi_fold_vector_of(s, p->out, p->bytes);
  rgi_sched_copy(s, p->out, p->in, p->bytes);
  rgi_fold_in(s, t, &f, &v);
  for (int bit = 1; bit < f.size && f.me >= 0; bit *= 2) {
    int other = rgi_fold_rank(&f, f.me ^ bit);
    rgi_sched_send(s, t, other, p->out, p->bytes);
    rgi_sched_receive(s, t, other, v.room, p->bytes);
    rgi_sched_end_round(s);
    rgi_fold_combine(s, other < t->me, p->out, v.room, p->bytes);
  }
  rgi_fold_out(s, t, &f, &v);
}

/* Reduce-scatter by recursive halving, then allgather over the same partners in reverse. */
static void allreduce_rabenseifner(rgi_sched *s, const rgi_subgroup *t,
                                   const rgi_algorithm_args *p) {
  rgi_fold f = rgi_fold_of(t, -1);
  rgi_fold_range part[RGI_FOLD_HALVINGS];
  rgi_fold_vector v = rgi_fold_vector_of(s, p->out, p->bytes);
  size_t unit = v.unit;
  int k = 0;
  rgi_sched_copy(s, p->out, p->in, p->bytes);
  rgi_fold_in(s, t, &f, &v);
  if (f.me >= 0)
    rgi_fold_reduce_scatter(s, t, &f, &v, part);
  while (1 << k < f.size)
    k++;
  while (k-- > 0 && f.me >= 0) {
    int other = rgi_fold_rank(&f, f.me ^ 1 << k);
    rgi_fold_range mine = part[k + 1], theirs = rgi_fold_other_half(part, k);
    rgi_sched_send(s, t, other, p->out + mine.low * unit, (mine.high - mine.low) * unit);
    rgi_sched_receive(s, t, other, p->out + theirs.low * unit, (theirs.high - theirs.low) * unit);
    rgi_sched_end_round(s);
  }
  rgi_fold_out(s, t, &f, &v);
}

/* Where piece i of n begins. */
static size_t piece_at(const rgi_sched *s, const rgi_algorithm_args *p, int i, int n) {
  size_t unit = s->reduction.datatype.size, units = unit ? p->bytes / unit : 0;
  size_t each = units / (size_t)n, more = units % (size_t)n;
  return ((size_t)i * each + ((size_t)i < more ? (size_t)i : more)) * unit;
}

/* Each piece goes round the ring once, where every member adds its operand, and then a second
 * time, as the result. */
static void allreduce_ring(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int n = t->size, to = (t->me + 1) % n, from = (t->me - 1 + n) % n;
  char *room = rgi_sched_alloc(s, piece_at(s, p, 1, n));
  rgi_sched_copy(s, p->out, p->in, p->bytes);
  for (int k = 0; k < 2 * (n - 1); k++) {
    int out = (t->me - k + 2 * n) % n, in = (t->me - k - 1 + 2 * n) % n, adds = k < n - 1;
    size_t at = piece_at(s, p, in, n), bytes = piece_at(s, p, in + 1, n) - at;
    size_t sent = piece_at(s, p, out, n);
    rgi_sched_send(s, t, to, p->out + sent, piece_at(s, p, out + 1, n) - sent);
    rgi_sched_receive(s, t, from, adds ? room : p->out + at, bytes);
    rgi_sched_end_round(s);
    if (adds)
      rgi_sched_reduce_left(s, p->out + at, room, bytes);
  }
}

static void allreduce_hierarchical(rgi_sched *s, const rgi_subgroup *t,
                                   const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, -1);
  rgi_algorithm_args between = *p;
  (void)t;
  between.in = p->out;
  rgi_algorithm_args inside = {.in = p->in, .out = p->out, .bytes = p->bytes};
  rgi_hier_node_reduce(s, RG_OP_ALLREDUCE, &inside);
  rgi_hier_between(s, RG_OP_ALLREDUCE, &leaders, &between);
  rgi_hier_node_bcast(s, RG_OP_ALLREDUCE, p->out, p->bytes, 0);
}

static void allreduce_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_REDUCE, RGI_SCHED_ALL, p->out, p->in, p->bytes});
}

static double allreduce_tree_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * (2 * l->ts + l->n * (2 * l->tw + l->tc));
}

static double allreduce_ring_cost(const rgi_cost_params *l) {
  return 2 * (l->p - 1) * l->ts + (l->p - 1) / l->p * l->n * (2 * l->tw + l->tc);
}

const rgi_algorithm rgi_algorithms_allreduce[] = {
    {"tree", allreduce_tree, 0, allreduce_tree_cost, "lg p (2 t_s + n (2 t_w + t_c))"},
    {"butterfly", allreduce_butterfly, 0, RGI_COST_REDUCE_TREE},
    {"rabenseifner", allreduce_rabenseifner, RGI_ALGORITHM_DIVIDES, RGI_COST_RABENSEIFNER},
    {"ring", allreduce_ring, RGI_ALGORITHM_COMMUTES | RGI_ALGORITHM_DIVIDES, allreduce_ring_cost,
     "2 (p - 1) t_s + (p - 1)/p n (2 t_w + t_c)"},
    {"hierarchical", allreduce_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "inside the node + between nodes + inside the node"},
    {"shared", allreduce_shared, RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES,
     RGI_COST_REDUCE_SHM},
    {0}};
