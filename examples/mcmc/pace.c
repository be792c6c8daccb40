/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "pace.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#define SLICE 0.1    /* seconds between two looks at the notices */
#define LOOK_AT 1e-3 /* seconds between two looks at a request */
#define FOR_EVER 1e15

static void take_notice(mcmc_run *run) {
  mcmc_notice n;
  mcmc_must(rg_recv(run->world, &n, 3, MPI_INT64_T, RG_ANY_SOURCE, MCMC_NOTICE, NULL), "rg_recv");
  mcmc_board_note(&run->board, &n);
  run->notices--;
}

static int watching(const mcmc_run *run) {
  return run->rank == 0 && run->board.wanted;
}

static void look(mcmc_run *run) {
  int found = 1;
  if (!watching(run) || rgp_now() - run->board.line.drawn < SLICE)
    return;
  while (found) {
    mcmc_must(rg_iprobe(run->world, RG_ANY_SOURCE, MCMC_NOTICE, &found, NULL), "rg_iprobe");
    if (found)
      take_notice(run);
  }
  mcmc_board_show(&run->board);
}

static void sleep_to(double deadline) {
  double whole = floor(deadline < FOR_EVER ? deadline : FOR_EVER);
  long rest = (long)ceil((deadline - whole) * 1e9);
  struct timespec t = {(time_t)whole, rest < 999999999 ? rest : 999999999};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    ;
}

void mcmc_sleep_until(mcmc_run *run, double deadline) {
  for (double now = rgp_now(); watching(run) && deadline - now > SLICE; now = rgp_now()) {
    sleep_to(now + SLICE);
    look(run);
  }
  look(run);
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
    look(run);
  }
}

void mcmc_wait(mcmc_run *run, rg_request *request) {
  int done = 0;
  while (watching(run) && !done) {
    mcmc_must(rg_test(request, &done, NULL), "rg_test");
    if (!done) {
      look(run);
      sleep_to(rgp_now() + LOOK_AT);
    }
  }
  mcmc_must(rg_wait(request, NULL), "rg_wait");
}

/* Samples left in the group's list. */
static int64_t samples_left(const mcmc_run *run) {
  const mcmc_crew *c = &run->crew;
  int64_t left = -c->done;
  for (int64_t w = c->walker; w < run->plan.walkers; w += run->plan.groups)
    left += mcmc_plan_samples(&run->plan, w);
  return left;
}

void mcmc_tell(mcmc_run *run) {
  const mcmc_crew *c = &run->crew;
  if (!run->board.wanted || c->rank != 0)
    return;
  mcmc_notice n = {c->first, c->size, samples_left(run)};
  if (run->rank == 0) {
    mcmc_board_note(&run->board, &n);
    return;
  }
  /* So small a message leaves at once. */
  mcmc_must(rg_send(run->world, &n, 3, MPI_INT64_T, 0, MCMC_NOTICE), "rg_send");
  run->notices++;
}

void mcmc_take_notices(mcmc_run *run, int64_t outstanding) {
  for (; run->rank == 0 && outstanding > 0; outstanding--)
    take_notice(run);
}
