/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The progress line: rank 0 works out how far the run is from what the balancer knows
 * of the groups, so that showing it changes nothing. */
#ifndef MCMC_PROGRESS_H
#define MCMC_PROGRESS_H

#include <regroup/balance.h>

#include "runtime/program/program.h"

typedef struct {
  int wanted; /* the same on all ranks: progress is to be shown */
  rgp_progress line;
  double most; /* what has been shown */
  rg_load *loads;
  int room;
} mcmc_progress;

/* Starts the line, on rank 0 if wanted is set. */
void mcmc_progress_start(mcmc_progress *progress, int ranks);
/* Shows it, at most ten times a second. */
void mcmc_progress_show(mcmc_progress *progress, rg_balancer balancer, int ranks);
void mcmc_progress_end(mcmc_progress *progress);

/* Whether standard error is a terminal, or a pipe to an mpiexec on this machine whose own is one.
 */
int mcmc_progress_watched(void);

#endif
