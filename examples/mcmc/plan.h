/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Who owns which work, and how long it takes at best and without balancing. All
 * of it is arithmetic on the arguments of the run: every rank knows all of it. */
#ifndef MCMC_PLAN_H
#define MCMC_PLAN_H

#include <stdint.h>

typedef struct {
  int ranks;
  int group;       /* ranks in a group at first; the last group may be smaller */
  int groups;      /* how many groups at first */
  int64_t walkers; /* walker w has the key w * key_step; group j gets the walkers */
  int key_step;    /* j, j + groups, j + 2 groups, ... and does them in this order */
  int64_t samples; /* a walker with key R has (R mod 32) * samples samples */
  int64_t unit;    /* samples in a unit of work */
  double sample;   /* seconds that a sample takes on one rank */
} mcmc_plan;

/* ranks, group, samples, unit and sample as above; walkers 0: one for each
 * group, with its leader's rank as its key; otherwise keys 0, 4, 8, ... */
mcmc_plan mcmc_plan_make(int ranks, int group, int64_t walkers, int64_t samples, int64_t unit,
                         double sample);

/* The key, and the number of samples, of walker w (0 when w is past the end). */
int64_t mcmc_plan_key(const mcmc_plan *p, int64_t w);
int64_t mcmc_plan_samples(const mcmc_plan *p, int64_t w);

/* How many samples, and units, group j has at first. */
int64_t mcmc_plan_group_samples(const mcmc_plan *p, int j);
int64_t mcmc_plan_group_units(const mcmc_plan *p, int j);

/* First rank and size of group j. */
int mcmc_plan_first(const mcmc_plan *p, int j);
int mcmc_plan_size(const mcmc_plan *p, int j);

/* Samples of all walkers together. */
int64_t mcmc_plan_total(const mcmc_plan *p);

/* Seconds that the run takes without balancing, and when all ranks share the
 * work perfectly. processors: how many the ranks have when each sample needs one
 * (neither can be faster than all the work on all of them); 0: samples need
 * none. */
double mcmc_plan_baseline(const mcmc_plan *p, int processors);
double mcmc_plan_ideal(const mcmc_plan *p, int processors);

#endif
