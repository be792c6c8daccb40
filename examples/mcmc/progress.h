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
  int wanted; /* on all ranks alike: somebody looks at it */
  rgp_progress line;
  double most; /* what has been shown */
  rg_load *loads;
  int room;
} mcmc_progress;

/* For rank 0, when wanted is set. */
void mcmc_progress_start(mcmc_progress *b, int ranks);
/* At most ten times a second. */
void mcmc_progress_show(mcmc_progress *b, rg_balancer balancer, int ranks);
void mcmc_progress_end(mcmc_progress *b);

/* Whether a person looks at this process's standard error: also when it is a
 * pipe to an mpiexec on this machine whose own standard error is a terminal. */
int mcmc_progress_watched(void);

#endif
