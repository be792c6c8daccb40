/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How the groups get from their formation to the end of all work. Called by all
 * ranks after mcmc_crew_form. */
#ifndef MCMC_POLICIES_H
#define MCMC_POLICIES_H

#include "run.h"

/* Each group does its own work. */
void mcmc_run_none(mcmc_run *run);

/* A group that has finished asks its right neighbour, by one message, whether it
 * may join; an active group looks for such a message after each unit. Only the
 * two groups that merge take part. */
void mcmc_run_async(mcmc_run *run);

/* In lock-step: after every o.interval units all ranks exchange their load and
 * regroup by lockstep.h. */
void mcmc_run_sync(mcmc_run *run);

#endif
