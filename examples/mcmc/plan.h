/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which walkers there are, and how long they take at best and without balancing. Every rank
 * computes it from the arguments of the run. */
#ifndef MCMC_PLAN_H
#define MCMC_PLAN_H

#include <stdint.h>

typedef struct {
  int ranks;
  int group;       /* ranks in a group at first; the last group may be smaller */
  int groups;      /* how many groups at first; walker j starts on group j, the others wait */
  int64_t walkers; /* walker w has the key w * key_step */
  int key_step;
  int64_t samples;  /* a walker with key R has (R mod 32) * samples samples, unless: */
  int64_t *pattern; /* samples of each walker, or NULL */
  int64_t unit;     /* samples in a unit of work */
  double sample;    /* seconds that a sample takes on one rank */
} mcmc_plan;

/* ranks, group, samples, unit, sample: of mcmc_plan; walkers 0: one for each
 * group, with its leader's rank as its key; otherwise keys 0, 4, 8, ... */
mcmc_plan mcmc_plan_make(int ranks, int group, int64_t walkers, int64_t samples, int64_t unit,
                         double sample);

/* Gives the walkers the units of this pattern of work (lb/patterns), so that all ranks
 * together need `bound` seconds; 0: the pattern's own units. Returns an error of
 * rgi_pattern_make. */
int mcmc_plan_use(mcmc_plan *plan, const char *pattern, double bound);
void mcmc_plan_free(mcmc_plan *plan);

/* The key, and the number of samples and units, of walker w (0 when w is past the end). */
int64_t mcmc_plan_key(const mcmc_plan *plan, int64_t w);
int64_t mcmc_plan_samples(const mcmc_plan *plan, int64_t w);
int64_t mcmc_plan_units(const mcmc_plan *plan, int64_t w);

/* First rank and size of group j. */
int mcmc_plan_first(const mcmc_plan *plan, int j);
int mcmc_plan_size(const mcmc_plan *plan, int j);

/* Samples of all walkers together. */
int64_t mcmc_plan_total(const mcmc_plan *plan);

/* Seconds that the run takes if no group joins another (a group that has finished takes the longest
 * walker that waits), and if all ranks share the work perfectly: all work on all ranks, which is
 * never less than the longest walker on all of them. processors: how many the ranks have if each
 * sample needs one (neither time can be less than all the work on all processors); 0: samples need
 * none. The first is negative if there is no memory for it. */
double mcmc_plan_baseline(const mcmc_plan *plan, int processors);
double mcmc_plan_ideal(const mcmc_plan *plan, int processors);

#endif
