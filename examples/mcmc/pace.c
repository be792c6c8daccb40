/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "pace.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#define SLICE 0.1 /* seconds between two looks at the groups */
#define FOR_EVER 1e15

int mcmc_watches(const mcmc_run *run) {
  return run->rank == 0 && run->board.wanted;
}

void mcmc_look(mcmc_run *run) {
  if (mcmc_watches(run) && run->balancer)
    mcmc_board_show(&run->board, run->balancer, run->plan.ranks);
}

static void sleep_to(double deadline) {
  double whole = floor(deadline < FOR_EVER ? deadline : FOR_EVER);
  long rest = (long)ceil((deadline - whole) * 1e9);
  struct timespec t = {(time_t)whole, rest < 999999999 ? rest : 999999999};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    ;
}

void mcmc_sleep_until(mcmc_run *run, double deadline) {
  for (double now = rgp_now(); mcmc_watches(run) && deadline - now > SLICE; now = rgp_now()) {
    sleep_to(now + SLICE);
    mcmc_look(run);
  }
  mcmc_look(run);
  sleep_to(deadline);
}

double mcmc_processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void mcmc_spin(mcmc_run *run, double from, double seconds) {
  volatile double x = 1;
  while (mcmc_processor_time() - from < seconds) {
    for (int i = 0; i < 1000; i++)
      x = x * 0.999 + 0.001;
    mcmc_look(run);
  }
}
