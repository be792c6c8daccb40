/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers have published lengths or those of a pattern (lb/patterns). The time without balancing is
 * found by dealing the walkers that wait to groups in the order in which these become free. */
#include "plan.h"

#include <math.h>
#include <regroup/error.h>
#include <stdlib.h>

#include "lb/patterns/pattern.h"

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

int mcmc_plan_use(mcmc_plan *plan, const char *name, double bound) {
  rgi_pattern pattern;
  double unit = plan->sample * (double)plan->unit;
  int64_t total = bound > 0 && unit > 0 ? llround(bound * plan->ranks / unit) : 0;
  if (bound > 0 && total == 0)
    return rg_error_set(RG_ERR_ARG, "%d ranks do less than one unit (%g s) in %g s", plan->ranks,
                        unit, bound);
  int error = rgi_pattern_make(name, plan->groups, plan->group, total, &pattern);
  if (error)
    return error;
  plan->pattern = pattern.units;
  plan->walkers = pattern.walkers;
  plan->key_step = plan->group;
  for (int64_t w = 0; w < plan->walkers; w++)
    plan->pattern[w] *= plan->unit;
  return mcmc_plan_total(plan) > 0 || bound == 0
             ? RG_SUCCESS
             : rg_error_set(RG_ERR_ARG,
                            "pattern %s has no work on %d groups of %d, which could be scaled",
                            name, plan->groups, plan->group);
}

void mcmc_plan_free(mcmc_plan *plan) {
  free(plan->pattern);
  plan->pattern = NULL;
}

int64_t mcmc_plan_key(const mcmc_plan *plan, int64_t w) {
  return w * plan->key_step;
}

int64_t mcmc_plan_samples(const mcmc_plan *plan, int64_t w) {
  if (w >= plan->walkers)
    return 0;
  return plan->pattern ? plan->pattern[w] : mcmc_plan_key(plan, w) % PERIOD * plan->samples;
}

int64_t mcmc_plan_units(const mcmc_plan *plan, int64_t w) {
  return (mcmc_plan_samples(plan, w) + plan->unit - 1) / plan->unit;
}

int mcmc_plan_first(const mcmc_plan *plan, int j) {
  return j * plan->group;
}

int mcmc_plan_size(const mcmc_plan *plan, int j) {
  int left = plan->ranks - mcmc_plan_first(plan, j);
  return left < plan->group ? left : plan->group;
}

int64_t mcmc_plan_total(const mcmc_plan *plan) {
  int64_t sum = 0;
  for (int64_t w = 0; w < plan->walkers; w++)
    sum += mcmc_plan_samples(plan, w);
  return sum;
}

static double at_least(double seconds, const mcmc_plan *plan, int processors) {
  double needed = processors ? (double)mcmc_plan_total(plan) * plan->sample / processors : 0;
  return seconds > needed ? seconds : needed;
}

static int longest_first(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

/* Deals each walker that waits to the group that is free first. */
static void deal_waiting(const mcmc_plan *plan, double ends[], int64_t waiting[]) {
  int64_t count = plan->walkers - plan->groups;
  for (int64_t i = 0; i < count; i++)
    waiting[i] = mcmc_plan_samples(plan, plan->groups + i);
  if (count > 0)
    qsort(waiting, (size_t)count, sizeof *waiting, longest_first);
  for (int64_t i = 0; i < count; i++) {
    int first = 0;
    for (int j = 1; j < plan->groups; j++)
      first = ends[j] < ends[first] ? j : first;
    ends[first] += (double)waiting[i] * plan->sample / mcmc_plan_size(plan, first);
  }
}

double mcmc_plan_baseline(const mcmc_plan *plan, int processors) {
  double longest = 0;
  double *ends = malloc((size_t)plan->groups * sizeof *ends);
  int64_t *waiting = malloc((size_t)(plan->walkers + 1) * sizeof *waiting);
  for (int j = 0; ends && j < plan->groups; j++)
    ends[j] = (double)mcmc_plan_samples(plan, j) * plan->sample / mcmc_plan_size(plan, j);
  if (ends && waiting)
    deal_waiting(plan, ends, waiting);
  for (int j = 0; ends && j < plan->groups; j++)
    longest = ends[j] > longest ? ends[j] : longest;
  int good = ends && waiting;
  free(ends);
  free(waiting);
  return good ? at_least(longest, plan, processors) : -1;
}

double mcmc_plan_ideal(const mcmc_plan *plan, int processors) {
  return at_least((double)mcmc_plan_total(plan) * plan->sample / plan->ranks, plan, processors);
}
