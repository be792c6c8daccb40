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

int mcmc_plan_use(mcmc_plan *p, const char *name, double bound) {
  rgi_pattern pattern;
  double unit = p->sample * (double)p->unit;
  int64_t total = bound > 0 && unit > 0 ? llround(bound * p->ranks / unit) : 0;
  if (bound > 0 && total == 0)
    return rg_error_set(RG_ERR_ARG, "%d ranks do less than one unit (%g s) in %g s", p->ranks, unit,
                        bound);
  int error = rgi_pattern_make(name, p->groups, p->group, total, &pattern);
  if (error)
    return error;
  p->pattern = pattern.units;
  p->walkers = pattern.walkers;
  p->key_step = p->group;
  for (int64_t w = 0; w < p->walkers; w++)
    p->pattern[w] *= p->unit;
  return mcmc_plan_total(p) > 0 || bound == 0
             ? RG_SUCCESS
             : rg_error_set(RG_ERR_ARG,
                            "pattern %s has no work on %d groups of %d, which could be scaled",
                            name, p->groups, p->group);
}

void mcmc_plan_free(mcmc_plan *p) {
  free(p->pattern);
  p->pattern = NULL;
}

int64_t mcmc_plan_key(const mcmc_plan *p, int64_t w) {
  return w * p->key_step;
}

int64_t mcmc_plan_samples(const mcmc_plan *p, int64_t w) {
  if (w >= p->walkers)
    return 0;
  return p->pattern ? p->pattern[w] : mcmc_plan_key(p, w) % PERIOD * p->samples;
}

int64_t mcmc_plan_units(const mcmc_plan *p, int64_t w) {
  return (mcmc_plan_samples(p, w) + p->unit - 1) / p->unit;
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

static int longest_first(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

/* Deals each walker that waits to the group that is free first. */
static void deal_waiting(const mcmc_plan *p, double ends[], int64_t waiting[]) {
  int64_t count = p->walkers - p->groups;
  for (int64_t i = 0; i < count; i++)
    waiting[i] = mcmc_plan_samples(p, p->groups + i);
  if (count > 0)
    qsort(waiting, (size_t)count, sizeof *waiting, longest_first);
  for (int64_t i = 0; i < count; i++) {
    int first = 0;
    for (int j = 1; j < p->groups; j++)
      first = ends[j] < ends[first] ? j : first;
    ends[first] += (double)waiting[i] * p->sample / mcmc_plan_size(p, first);
  }
}

double mcmc_plan_baseline(const mcmc_plan *p, int processors) {
  double longest = 0;
  double *ends = malloc((size_t)p->groups * sizeof *ends);
  int64_t *waiting = malloc((size_t)(p->walkers + 1) * sizeof *waiting);
  for (int j = 0; ends && j < p->groups; j++)
    ends[j] = (double)mcmc_plan_samples(p, j) * p->sample / mcmc_plan_size(p, j);
  if (ends && waiting)
    deal_waiting(p, ends, waiting);
  for (int j = 0; ends && j < p->groups; j++)
    longest = ends[j] > longest ? ends[j] : longest;
  int good = ends && waiting;
  free(ends);
  free(waiting);
  return good ? at_least(longest, p, processors) : -1;
}

double mcmc_plan_ideal(const mcmc_plan *p, int processors) {
  return at_least((double)mcmc_plan_total(p) * p->sample / p->ranks, p, processors);
}
