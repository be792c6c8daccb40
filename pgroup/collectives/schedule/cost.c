/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What algorithms take: the formulas that several operations share. */
#include "collectives/schedule/cost.h"

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
  return rgi_cost_lg(l->p) * l->ts + l->n * (2 * l->tw + (l->p - 1) / l->p * l->tc);
}
