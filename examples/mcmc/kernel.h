/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The kernel as the library's walkers: a unit, what is left, and pace. */
#ifndef MCMC_KERNEL_H
#define MCMC_KERNEL_H

#include "run.h"

/* A walker's state: where it is, and (the leader's, when packed) how often it was where. */
typedef struct {
  mcmc_walk_position position;
  int64_t done, samples, visits[MCMC_WALK_CELLS];
} mcmc_kernel_state;

/* A balancer with all walkers of the plan. */
void mcmc_kernel_prepare(mcmc_run *run);

/* The checksums that the run must end with, worked out here. */
void mcmc_kernel_expect(const mcmc_run *run, uint64_t *checksum, uint64_t *visits);

#endif
