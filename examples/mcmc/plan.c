/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "plan.h"

enum { PERIOD = 32, LISTED_KEY_STEP = 4 };

mcmc_plan mcmc_plan_make(int ranks, int group, int64_t walkers, int64_t samples, int64_t unit,
                         double sample) {
  int groups = (ranks - 1) / group + 1;
  return (mcmc_plan){.ranks = ranks,
                     .group = group,
                     .groups = groups,
                     .walkers = walkers ? walkers : groups,
                     .key_step = walkers ? LISTED_KEY_STEP : group,
                     .samples = samples,
                     .unit = unit,
                     .sample = sample};
}

int64_t mcmc_plan_key(const mcmc_plan *p, int64_t w) {
  return w * p->key_step;
}

int64_t mcmc_plan_samples(const mcmc_plan *p, int64_t w) {
  return w < p->walkers ? mcmc_plan_key(p, w) % PERIOD * p->samples : 0;
}

int64_t mcmc_plan_group_samples(const mcmc_plan *p, int j) {
  int64_t sum = 0;
  for (int64_t w = j; w < p->walkers; w += p->groups)
    sum += mcmc_plan_samples(p, w);
  return sum;
}

int64_t mcmc_plan_group_units(const mcmc_plan *p, int j) {
  int64_t sum = 0;
  for (int64_t w = j; w < p->walkers; w += p->groups)
    sum += (mcmc_plan_samples(p, w) + p->unit - 1) / p->unit;
  return sum;
}

int mcmc_plan_first(const mcmc_plan *p, int j) {
  return j * p->group;
}

int mcmc_plan_size(const mcmc_plan *p, int j) {
  int left = p->ranks - mcmc_plan_first(p, j);
  return left < p->group ? left : p->group;
}

int64_t mcmc_plan_total(const mcmc_plan *p) {
  int64_t sum = 0;
  for (int64_t w = 0; w < p->walkers; w++)
    sum += mcmc_plan_samples(p, w);
  return sum;
}

static double at_least(double seconds, const mcmc_plan *p, int processors) {
  double needed = processors ? (double)mcmc_plan_total(p) * p->sample / processors : 0;
  return seconds > needed ? seconds : needed;
}

double mcmc_plan_baseline(const mcmc_plan *p, int processors) {
  double longest = 0;
  for (int j = 0; j < p->groups; j++) {
    double seconds = (double)mcmc_plan_group_samples(p, j) * p->sample / mcmc_plan_size(p, j);
    longest = seconds > longest ? seconds : longest;
  }
  return at_least(longest, p, processors);
}

double mcmc_plan_ideal(const mcmc_plan *p, int processors) {
  return at_least((double)mcmc_plan_total(p) * p->sample / p->ranks, p, processors);
}
