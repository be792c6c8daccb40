/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses and flushes that follow one another let MPI go on now and then. */
#include <sched.h>

#include "base/clock.h"
#include "mpich/windows/win.h"
#include "progress/wait.h"
#include "shm/node.h"

/* 256 accesses, or as many flushes as take about as long: MPI's poll costs 100 ns, and 3 us where
 * it is not in the caches. */
#define BUDGET (256 * RGI_WIN_ACCESS)

/* Fewer where they take longer than that, as in a loop that looks now and then: what MPI has under
 * way goes on about once in that time. */
#define LONG_SECONDS 1e-3

RGI_WIN_THREAD int rgi_win_left;

static RGI_WIN_THREAD struct {
  double last; /* when this thread let MPI go on */
  int budget, used;
} poll_of;

void rgi_win_go_on(void) {
  double now = rgi_clock_now();
  int more = 2 * poll_of.budget + RGI_WIN_ACCESS;
  poll_of.used += poll_of.budget - rgi_win_left;
  poll_of.budget = now - poll_of.last > LONG_SECONDS ? poll_of.budget / 2
                   : more < BUDGET                   ? more
                                                     : BUDGET;
  poll_of.last = now;
  rgi_win_left = poll_of.budget;
  if (rgi_wait_meanwhile)
    rgi_wait_meanwhile();
  if (rgi_node.oversubscribed && poll_of.used >= BUDGET) {
    poll_of.used = 0;
    sched_yield();
  }
}
