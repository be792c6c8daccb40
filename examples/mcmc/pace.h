/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Passing time while rank 0 keeps an eye on the progress line. */
#ifndef MCMC_PACE_H
#define MCMC_PACE_H

#include "run.h"

/* Sleeps until the clock of rgp_now says `deadline`. */
void mcmc_sleep_until(mcmc_run *run, double deadline);

/* Uses this thread's processor until it has used `seconds` since `from`, a time
 * of mcmc_processor_time. */
void mcmc_spin(mcmc_run *run, double from, double seconds);
double mcmc_processor_time(void);

/* Waits for a request, and shows progress meanwhile. */
void mcmc_wait(mcmc_run *run, rg_request *request);

/* The leader of a group that is new or has finished tells rank 0, if progress is
 * wanted. */
void mcmc_tell(mcmc_run *run);

/* At the end: takes the notices that are still under way to rank 0. */
void mcmc_take_notices(mcmc_run *run, int64_t outstanding);

#endif
