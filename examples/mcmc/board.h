/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The progress line: rank 0 works out how far the run is from what the balancer knows
 * of the groups, so that showing it changes nothing. */
#ifndef MCMC_BOARD_H
#define MCMC_BOARD_H

#include <regroup/balance.h>

#include "runtime/program/program.h"

typedef struct {
  int wanted; /* on all ranks alike: somebody looks at it */
  rgp_progress line;
  double most; /* what has been shown */
  rg_load *loads;
  int room;
} mcmc_board;

/* For rank 0, when wanted is set. */
void mcmc_board_start(mcmc_board *b, int ranks);
/* At most ten times a second. */
void mcmc_board_show(mcmc_board *b, rg_balancer balancer, int ranks);
void mcmc_board_end(mcmc_board *b);

/* Whether a person looks at this process's standard error: also when it is a
 * pipe to an mpiexec on this machine whose own standard error is a terminal. */
int mcmc_watched(void);

#endif
