/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The kernel as walkers of the library: a unit, what is left, and the state. */
#ifndef MCMC_KERNEL_H
#define MCMC_KERNEL_H

#include "run.h"

/* A walker's state: its position and, on the leader when it is packed, its visits to each cell. */
typedef struct {
  mcmc_walk_position position;
  int64_t done, samples, visits[MCMC_WALK_CELLS];
} mcmc_kernel_state;

/* A balancer with all walkers of the plan. */
void mcmc_kernel_prepare(mcmc_run *run);

/* Finds where the walkers are to be saved. Local. */
void mcmc_kernel_open(mcmc_run *run);
/* The walkers as they were saved, or as they begin: an error of loading. Collective over the
 * survivors. */
int mcmc_kernel_load(mcmc_run *run);
/* Saves the walkers as they have ended, from the outcomes on the first of the survivors. Collective
 * over these. Returns an error. */
int mcmc_kernel_save(mcmc_run *run);
/* Samples that the loaded walkers had done. */
int64_t mcmc_kernel_loaded(const mcmc_run *run);

/* What the walkers from `first` on, each step-th, add to the checksums of a run and of its visits:
 * by doing all their samples here. */
void mcmc_kernel_expect(const mcmc_run *run, int first, int step, uint64_t sums[2]);

#endif
