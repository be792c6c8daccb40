/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "delay.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#define SLICE 0.1 /* seconds between two looks at the groups */
#define FOR_EVER 1e15

int mcmc_delay_watched(const mcmc_run *run) {
  return run->rank == 0 && run->progress.wanted;
}

void mcmc_delay_show(mcmc_run *run) {
  if (mcmc_delay_watched(run) && run->balancer)
    mcmc_progress_show(&run->progress, run->balancer, run->plan.ranks);
}

static void sleep_to(double deadline) {
  double whole = floor(deadline < FOR_EVER ? deadline : FOR_EVER);
  long rest = (long)ceil((deadline - whole) * 1e9);
  struct timespec t = {(time_t)whole, rest < 999999999 ? rest : 999999999};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    ;
}

void mcmc_delay_until(mcmc_run *run, double deadline) {
  for (double now = rgp_now(); mcmc_delay_watched(run) && deadline - now > SLICE; now = rgp_now()) {
    sleep_to(now + SLICE);
    mcmc_delay_show(run);
  }
  mcmc_delay_show(run);
  sleep_to(deadline);
}

double mcmc_delay_processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void mcmc_delay_spin(mcmc_run *run, double from, double seconds) {
  volatile double x = 1;
  while (mcmc_delay_processor_time() - from < seconds) {
    for (int i = 0; i < 1000; i++)
      x = x * 0.999 + 0.001;
    mcmc_delay_show(run);
  }
}
