/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses and flushes that follow one another let MPI go on now and then. */
#include <sched.h>

#include "mpi/win.h"
#include "progress/wait.h"
#include "shm/node.h"

RGI_WIN_THREAD unsigned rgi_win_polls;

void rgi_win_go_on(void) {
  if (rgi_wait_meanwhile)
    rgi_wait_meanwhile();
  if (rgi_node.oversubscribed)
    sched_yield();
}
