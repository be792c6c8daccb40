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

double rgi_cost_blocks(const rgi_cost_params *params) {
  return (params->p - 1) * (params->ts + params->n * params->tw);
}

double rgi_cost_doubling(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts + (params->p - 1) * params->n * params->tw;
}

double rgi_cost_reduce_linear(const rgi_cost_params *params) {
  return (params->p - 1) * (params->ts + params->n * (params->tw + params->tc));
}

double rgi_cost_reduce_tree(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * (params->ts + params->n * (params->tw + params->tc));
}

double rgi_cost_rabenseifner(const rgi_cost_params *params) {
  return 2 * rgi_cost_lg(params->p) * params->ts +
         (params->p - 1) / params->p * params->n * (2 * params->tw + params->tc);
}

double rgi_cost_reduce_shm(const rgi_cost_params *params) {
  return rgi_cost_lg(params->p) * params->ts +
         params->n * (2 * params->tw + (params->p - 1) / params->p * params->tc);
}
