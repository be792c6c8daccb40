/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses and flushes that follow one another let MPI go on now and then. */
#include <sched.h>

#include "mpi/win.h"
#include "progress/wait.h"
#include "shm/node.h"

/* 256 accesses, or as many flushes as take about as long: MPI's poll costs 100 ns, and 3 us where
 * it is not in the caches. */
#define BUDGET (256 * RGI_WIN_ACCESS)

RGI_WIN_THREAD int rgi_win_left;

void rgi_win_go_on(void) {
  rgi_win_left = BUDGET;
  if (rgi_wait_meanwhile)
    rgi_wait_meanwhile();
  if (rgi_node.oversubscribed)
    sched_yield();
}
