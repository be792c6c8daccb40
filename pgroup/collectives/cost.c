/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/cost.h"

#include "collectives/algorithm.h"

double rgi_cost_lg(double p) {
  double lg = 0;
  for (double q = 1; q < p; q *= 2)
    lg++;
  return lg;
}

double rgi_cost_blocks(const rgi_cost_params *l) {
  return (l->p - 1) * (l->ts + l->n * l->tw);
}

double rgi_cost_doubling(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts + (l->p - 1) * l->n * l->tw;
}

double rgi_cost_reduce_linear(const rgi_cost_params *l) {
  return (l->p - 1) * (l->ts + l->n * (l->tw + l->tc));
}

double rgi_cost_reduce_tree(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * (l->ts + l->n * (l->tw + l->tc));
}

double rgi_cost_rabenseifner(const rgi_cost_params *l) {
  return 2 * rgi_cost_lg(l->p) * l->ts + (l->p - 1) / l->p * l->n * (2 * l->tw + l->tc);
}

double rgi_cost_reduce_shm(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts + l->n * (2 * l->tw + l->tc);
}

int rgi_cost_serves(int row, const rgi_cost_shape *shape) {
  const rgi_algorithm *a = &rgi_algorithms[shape->op][row];
  if ((a->needs & RGI_ALGORITHM_COMMUTES) && !shape->commutes)
    return 0;
  if ((a->needs & RGI_ALGORITHM_ONE_NODE) && (shape->nodes > 1 || !shape->memory))
    return 0;
  if ((a->needs & RGI_ALGORITHM_NODES) &&
      (shape->nodes < 2 || (!shape->commutes && !shape->in_order)))
    return 0;
  if ((a->needs & RGI_ALGORITHM_IN_ORDER) && !shape->in_order)
    return 0;
  return shape->even || (a->needs & RGI_ALGORITHM_UNEVEN);
}

/* Inside each node to one member, between the nodes, inside again: half of what
 * the nodes hold crosses where blocks are gathered. */
static double predict_hierarchical(const rgi_tuning_model *m, const rgi_cost_shape *shape) {
  rgi_cost_shape between = *shape;
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
  const rgi_tuning_level *l = shape->memory ? &m->shared : &m->inside;
  return (1 + twice) * (rgi_cost_lg(here) * l->ts + inside * (l->tw + l->tc)) +
         rgi_cost_predict(m, rgi_cost_choose(m, &between, 1), &between);
}

double rgi_cost_predict(const rgi_tuning_model *m, int row, const rgi_cost_shape *shape) {
  const rgi_algorithm *a = &rgi_algorithms[shape->op][row];
  if (a->needs & RGI_ALGORITHM_NODES)
    return predict_hierarchical(m, shape);
  const rgi_tuning_level *l = a->needs & RGI_ALGORITHM_ONE_NODE ? &m->shared
                              : shape->nodes > 1                ? &m->between
                                                                : &m->inside;
  rgi_cost_params params = {shape->p, (double)shape->bytes, l->ts, l->tw, l->tc};
  if (shape->nodes > 1) /* the members on a node share its link */
    params.tw *= (double)shape->p / shape->nodes;
  return a->cost(&params);
}

int rgi_cost_choose(const rgi_tuning_model *m, const rgi_cost_shape *shape, int messages) {
  int best = -1;
  double least = 0;
  for (int row = 0; rgi_algorithms[shape->op][row].name; row++) {
    unsigned needs = rgi_algorithms[shape->op][row].needs;
    if (!rgi_cost_serves(row, shape) ||
        (messages && (needs & (RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES))))
      continue;
    if (needs & RGI_ALGORITHM_BEST)
      return row;
    double cost = rgi_cost_predict(m, row, shape);
    if (best < 0 || cost < least) {
      best = row;
      least = cost;
    }
  }
  return best;
}
