/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Looks for deaths in the polls in vain of MPI's own waits. */
#include "mpi/fault/fault_watch.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "shm/process.h"

/* What the dead process has sent has come by then, and a call that does not need it is over. */
#define END_SECONDS 1.0

_Thread_local int rgi_fault_watch_depth;

static _Thread_local rgi_fault_watch *innermost;

static int find_dead(const rgi_members *members) {
  for (int i = 0, all = rgi_process_deaths(); i < all; i++)
    if (rgi_members_find(members, rgi_process_death(i)) >= 0)
      return rgi_process_death(i);
  return -1;
}

void rgi_fault_watch_tell(int rank) {
  char text[200];
  snprintf(text, sizeof text,
           "regroup: %s: rank %d of MPI_COMM_WORLD has died, and MPI cannot end this call "
           "(docs/ulfm.md)",
           innermost ? innermost->call : "MPI", rank);
  rgi_intercept_abort(MPI_COMM_WORLD, RG_ERR_PROC_FAILED, text);
}

/* After a poll in vain inside MPI. */
static void look(void) {
  double now = rgi_clock_now();
  rgi_process_check(now);
  int dead = find_dead(innermost->members);
  if (dead < 0)
    return;
  if (innermost->since == 0)
    innermost->since = now;
  if (now - innermost->since >= END_SECONDS)
    rgi_fault_watch_tell(dead);
}

void rgi_fault_watch_begin(rgi_fault_watch *watch, const rgi_members *members, const char *call) {
  *watch = (rgi_fault_watch){.outer = innermost, .members = members, .call = call};
  rgi_fault_watch_depth++;
  if (!members)
    return;
  watch->polled = rgi_mpich_polled;
  innermost = watch;
  rgi_mpich_polled = look;
}

void rgi_fault_watch_end(rgi_fault_watch *watch) {
  rgi_fault_watch_depth--;
  if (!watch->members)
    return;
  rgi_mpich_polled = watch->polled;
  innermost = watch->outer;
}
