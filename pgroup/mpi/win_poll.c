/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <sched.h>

#include "mpi/win.h"
#include "progress/wait.h"
#include "shm/node.h"

#define POLL_EVERY 256

void rgi_win_poll(void) {
  static _Thread_local unsigned calls;
  if (++calls % POLL_EVERY)
    return;
  if (rgi_wait_meanwhile)
    rgi_wait_meanwhile();
  if (rgi_node.oversubscribed)
    sched_yield();
}
