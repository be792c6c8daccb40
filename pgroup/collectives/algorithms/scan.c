/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of scan and exscan. Inside a node by shared memory they are reductions whose
 * results differ (node_reduce.c). */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"

/* --- scan ----------------------------------------------------------------------------- */

static void scan_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_sched_copy(s, p->out, p->in, p->bytes);
  if (t->me > 0) {
    char *before = rgi_sched_alloc(s, p->bytes);
    rgi_sched_receive(s, t, t->me - 1, before, p->bytes);
    rgi_sched_end_round(s);
    rgi_sched_reduce_right(s, before, p->out, p->bytes);
  }
  if (t->me < t->size - 1)
    rgi_sched_send(s, t, t->me + 1, p->out, p->bytes);
}

/* After round k, out holds the last 2^k operands up to the own one, combined. */
static void scan_doubling(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  char *before = rgi_sched_alloc(s, p->bytes);
  rgi_sched_copy(s, p->out, p->in, p->bytes);
  for (long long d = 1; d < t->size; d *= 2) {
    if (t->me + d < t->size)
      rgi_sched_send(s, t, (int)(t->me + d), p->out, p->bytes);
    if (t->me >= d)
      rgi_sched_receive(s, t, (int)(t->me - d), before, p->bytes);
    rgi_sched_end_round(s);
    if (t->me >= d)
      rgi_sched_reduce_right(s, before, p->out, p->bytes);
  }
}

static void scan_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_REDUCE, RGI_SCHED_SCAN, p->out, p->in, p->bytes});
}

/* --- exscan --------------------------------------------------------------------------- */

static void exscan_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  const char *next = p->in;
  if (t->me > 0) {
    rgi_sched_receive(s, t, t->me - 1, p->out, p->bytes);
    rgi_sched_end_round(s);
  }
  if (t->me == t->size - 1)
    return;
  if (t->me > 0) {
    char *sum = rgi_sched_alloc(s, p->bytes);
    rgi_sched_copy(s, sum, p->in, p->bytes);
    rgi_sched_reduce_right(s, p->out, sum, p->bytes);
    next = sum;
  }
  rgi_sched_send(s, t, t->me + 1, next, p->bytes);
}

/* Each member sends its operand to the next rank; ranks 1 and up scan what they got. */
static void exscan_doubling(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  if (t->me < t->size - 1)
    rgi_sched_send(s, t, t->me + 1, p->in, p->bytes);
  if (t->me == 0)
    return;
  int *ranks = rgi_sched_alloc(s, (size_t)t->size * sizeof *ranks);
  char *operand = rgi_sched_alloc(s, p->bytes);
  rgi_sched_receive(s, t, t->me - 1, operand, p->bytes);
  rgi_sched_end_round(s);
  for (int i = 1; i < t->size && ranks; i++)
    ranks[i - 1] = rgi_subgroup_rank(t, i);
  rgi_subgroup others = {t->size - 1, t->me - 1, ranks};
  rgi_algorithm_args scan = *p;
  scan.in = operand;
  if (ranks)
    scan_doubling(s, &others, &scan);
}

static void exscan_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s,
                (rgi_sched_step){RGI_SCHED_SHM_REDUCE, RGI_SCHED_EXSCAN, p->out, p->in, p->bytes});
}

/* --- both, hierarchical: consecutive ranks on each node --------------------------------- */

/* The members of each node scan. The last member of a node has its sum and takes part in an
 * exscan between nodes. Its result is combined with all results of the node. */
static void scan_by_nodes(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p,
                          int inclusive) {
  const rgi_coll_nodes *n = &s->coll->nodes;
  const rgi_subgroup *inside = &n->inside;
  int *lasts = rgi_sched_alloc(s, (size_t)n->count * sizeof *lasts), is_last;
  char *sum = rgi_sched_alloc(s, p->bytes), *before = rgi_sched_alloc(s, p->bytes);
  if (s->error)
    return;
  for (int i = 0; i < n->count; i++)
    lasts[i] = rgi_hier_node_member(s, i, rgi_hier_node_size(s, i) - 1);
  is_last = lasts[n->mine] == t->me;
  rgi_subgroup leaders = {n->count, is_last ? n->mine : -1, lasts};
  rgi_algorithm_args scan = {.in = p->in, .out = sum, .bytes = p->bytes};
  rgi_algorithm_args between = {.in = sum, .out = before, .bytes = p->bytes};
  scan_doubling(s, inside, &scan);
  rgi_sched_end_round(s);
  if (is_last)
    exscan_doubling(s, &leaders, &between);
  rgi_sched_end_round(s);
  if (n->mine > 0)
    rgi_hier_node_bcast(s, RG_OP_SCAN, before, p->bytes, inside->size - 1);
  const char *result = sum;
  if (!inclusive) { /* take the result of the member before */
    char *shifted = rgi_sched_alloc(s, p->bytes);
    rgi_sched_end_round(s);
    if (!is_last)
      rgi_sched_send(s, inside, inside->me + 1, sum, p->bytes);
    if (inside->me > 0)
      rgi_sched_receive(s, inside, inside->me - 1, shifted, p->bytes);
    rgi_sched_end_round(s);
    result = shifted;
  }
  if (!inclusive && inside->me == 0) {
    if (n->mine > 0)
      rgi_sched_copy(s, p->out, before, p->bytes);
    return;
  }
  rgi_sched_copy(s, p->out, result, p->bytes);
  if (n->mine > 0)
    rgi_sched_reduce_right(s, before, p->out, p->bytes);
}

static void scan_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  scan_by_nodes(s, t, p, 1);
}

static void exscan_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  scan_by_nodes(s, t, p, 0);
}

static double exscan_doubling_cost(const rgi_cost_params *l) {
  return rgi_cost_reduce_tree(l) + l->ts + l->n * l->tw;
}

#define SHARED_NEEDS RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_DIVIDES
#define HIERARCHICAL_FORMULA "inside the node + between nodes + inside the node"

const rgi_algorithm rgi_algorithms_scan[] = {
    {"linear", scan_linear, 0, RGI_COST_REDUCE_LINEAR},
    {"doubling", scan_doubling, 0, RGI_COST_REDUCE_TREE},
    {"hierarchical", scan_hierarchical, RGI_ALGORITHM_NODES | RGI_ALGORITHM_IN_ORDER, NULL,
     HIERARCHICAL_FORMULA},
    {"shared", scan_shared, SHARED_NEEDS, RGI_COST_REDUCE_SHM},
    {0}};

const rgi_algorithm rgi_algorithms_exscan[] = {
    {"linear", exscan_linear, 0, RGI_COST_REDUCE_LINEAR},
    {"doubling", exscan_doubling, 0, exscan_doubling_cost, "(1 + lg p) (t_s + n t_w) + lg p n t_c"},
    {"hierarchical", exscan_hierarchical, RGI_ALGORITHM_NODES | RGI_ALGORITHM_IN_ORDER, NULL,
     HIERARCHICAL_FORMULA},
    {"shared", exscan_shared, SHARED_NEEDS, RGI_COST_REDUCE_SHM},
    {0}};
