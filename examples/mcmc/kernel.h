/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The kernel as the library's walkers: a unit, what is left, and pace. */
#ifndef MCMC_KERNEL_H
#define MCMC_KERNEL_H

#include "run.h"

/* A balancer with all walkers of the plan. */
void mcmc_kernel_prepare(mcmc_run *run);

#endif
