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

/* Whether this rank shows progress; shows it, not too often. */
int mcmc_watches(const mcmc_run *run);
void mcmc_look(mcmc_run *run);

#endif
