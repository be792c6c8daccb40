/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Passes time; rank 0 shows the progress line meanwhile. */
#ifndef MCMC_DELAY_H
#define MCMC_DELAY_H

#include "run.h"

/* Sleeps until the clock of rgp_now says `deadline`. */
void mcmc_delay_until(mcmc_run *run, double deadline);

/* Uses this thread's processor until it has used `seconds` since `from`, a time
 * of mcmc_delay_processor_time. */
void mcmc_delay_spin(mcmc_run *run, double from, double seconds);
double mcmc_delay_processor_time(void);

/* Whether this rank shows progress. Shows it, not too often. */
int mcmc_delay_watched(const mcmc_run *run);
void mcmc_delay_show(mcmc_run *run);

#endif
