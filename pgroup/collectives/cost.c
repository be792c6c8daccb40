/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/cost.h"

#include "collectives/algorithm.h"

double rgi_lg(double p) {
  double lg = 0;
  for (double q = 1; q < p; q *= 2)
    lg++;
  return lg;
}

double rgi_block_cost(const rgi_load *l) {
  return (l->p - 1) * (l->ts + l->n * l->tw);
}

double rgi_doubled_cost(const rgi_load *l) {
  return rgi_lg(l->p) * l->ts + (l->p - 1) * l->n * l->tw;
}

double rgi_fold_cost(const rgi_load *l) {
  return (l->p - 1) * (l->ts + l->n * (l->tw + l->tc));
}

double rgi_fold_tree_cost(const rgi_load *l) {
  return rgi_lg(l->p) * (l->ts + l->n * (l->tw + l->tc));
}

double rgi_rabenseifner_cost(const rgi_load *l) {
  return 2 * rgi_lg(l->p) * l->ts + (l->p - 1) / l->p * l->n * (2 * l->tw + l->tc);
}

double rgi_shared_fold_cost(const rgi_load *l) {
  return rgi_lg(l->p) * l->ts + l->n * (2 * l->tw + l->tc);
}

int rgi_serves(int row, const rgi_shape *shape) {
  const rgi_algorithm *a = &rgi_algorithms[shape->op][row];
  if ((a->needs & RGI_COMMUTES) && !shape->commutes)
    return 0;
  if ((a->needs & RGI_ONE_NODE) && (shape->nodes > 1 || !shape->memory))
    return 0;
  if ((a->needs & RGI_NODES) && (shape->nodes < 2 || (!shape->commutes && !shape->in_order)))
    return 0;
  if ((a->needs & RGI_ORDER) && !shape->in_order)
    return 0;
  return shape->even || (a->needs & RGI_UNEVEN);
}

/* Inside each node to one member, between the nodes, inside again: half of what
 * the nodes hold crosses where blocks are gathered. */
static double predict_hierarchical(const rgi_model *m, const rgi_shape *shape) {
  rgi_shape between = *shape;
  double here = (double)shape->p / shape->nodes, n = (double)shape->bytes;
  rg_operation op = shape->op;
  int blocks = op == RG_OP_GATHER || op == RG_OP_SCATTER || op == RG_OP_ALLGATHER ||
               op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLGATHERV ||
               op == RG_OP_ALLTOALL || op == RG_OP_REDUCE_SCATTER;
  int twice = op == RG_OP_ALLTOALL || op == RG_OP_ALLREDUCE || op == RG_OP_BARRIER;
  double all = blocks ? n * shape->p : n;
  between.p = shape->nodes;
  between.bytes = (size_t)(op == RG_OP_ALLTOALL ? n * here * here : blocks ? n * here : n);
  double inside = op == RG_OP_ALLTOALL ? all * here : all;
  const rgi_level *l = shape->memory ? &m->shared : &m->inside;
  return (1 + twice) * (rgi_lg(here) * l->ts + inside * (l->tw + l->tc)) +
         rgi_predict(m, rgi_choose(m, &between, 1), &between);
}

double rgi_predict(const rgi_model *m, int row, const rgi_shape *shape) {
  const rgi_algorithm *a = &rgi_algorithms[shape->op][row];
  if (a->needs & RGI_NODES)
    return predict_hierarchical(m, shape);
  const rgi_level *l = a->needs & RGI_ONE_NODE ? &m->shared
                       : shape->nodes > 1      ? &m->between
                                               : &m->inside;
  rgi_load load = {shape->p, (double)shape->bytes, l->ts, l->tw, l->tc};
  if (shape->nodes > 1) /* the members on a node share its link */
    load.tw *= (double)shape->p / shape->nodes;
  return a->cost(&load);
}

int rgi_choose(const rgi_model *m, const rgi_shape *shape, int messages) {
  int best = -1;
  double least = 0;
  for (int row = 0; rgi_algorithms[shape->op][row].name; row++) {
    unsigned needs = rgi_algorithms[shape->op][row].needs;
    if (!rgi_serves(row, shape) || (messages && (needs & (RGI_ONE_NODE | RGI_NODES))))
      continue;
    if (needs & RGI_BEST)
      return row;
    double cost = rgi_predict(m, row, shape);
    if (best < 0 || cost < least) {
      best = row;
      least = cost;
    }
  }
  return best;
}
