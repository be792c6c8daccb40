/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What rank 0 believes about all groups, for the progress line. It works out how
 * far a group is from its speed, and hears of new groups by notices that nobody
 * waits for; so that showing progress changes nothing. */
#ifndef MCMC_BOARD_H
#define MCMC_BOARD_H

#include <stdint.h>

#include "plan.h"
#include "runtime/program/program.h"

/* A group tells about itself. */
typedef struct {
  int64_t first, size, samples; /* left in its whole list */
} mcmc_notice;

typedef struct {
  mcmc_notice now;
  double since;
} mcmc_board_group;

typedef struct {
  int wanted; /* on all ranks alike: somebody looks at it */
  rgp_progress line;
  const mcmc_plan *plan;
  double speed;             /* of a rank, samples a second */
  int shared;               /* all ranks end at the same time */
  mcmc_board_group *groups; /* by first rank; size 0: no group begins there. Rank 0 only */
} mcmc_board;

/* Fills the board with the groups at first. For rank 0, when wanted is set. */
void mcmc_board_start(mcmc_board *b, const mcmc_plan *plan, double speed, int shared);
void mcmc_board_note(mcmc_board *b, const mcmc_notice *notice);
void mcmc_board_show(mcmc_board *b);
void mcmc_board_end(mcmc_board *b);

/* Whether a person looks at this process's standard error: also when it is a
 * pipe to an mpiexec on this machine whose own standard error is a terminal. */
int mcmc_watched(void);

#endif
