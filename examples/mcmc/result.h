/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The result of a run: worked out from all ranks, shown on the first. */
#ifndef MCMC_RESULT_H
#define MCMC_RESULT_H

#include "run.h"

typedef struct {
  double seconds, baseline, ideal, efficiency;
  double mean, sd; /* groups that a rank was in, counting the first */
  int64_t least, most;
  uint64_t executed;
  uint64_t expected[2];               /* the next two as they must be, if no work is left */
  uint64_t checksum, visits_checksum; /* set on the first rank only, like the next */
  int64_t visits;                     /* that were counted */
  int64_t samples, units;             /* that had to be executed */
  int64_t left;                       /* samples of walkers that have ended early */
  double origin;                      /* the time from which this rank's times count */
} mcmc_result;

/* Collective over run->team; the same on all ranks but for origin and what is the first one's.
 * Returns an error of a collective. */
int mcmc_result_collect(const mcmc_run *run, mcmc_result *result);

void mcmc_result_print(const mcmc_run *run, const mcmc_result *result);
json_t *mcmc_result_json(const mcmc_run *run, const mcmc_result *result);

#endif
