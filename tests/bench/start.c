/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "start.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/processors.h"
#include "runtime/program/program.h"

/* Processes under one kernel share CLOCK_MONOTONIC, and the kernel has a name
 * that no other has. */
static int same_kernel(MPI_Comm comm) {
  char mine[64] = "", first[64];
  int same, all;
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (f && !fgets(mine, sizeof mine, f))
    mine[0] = 0;
  if (f)
    fclose(f);
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
  same = mine[0] && strcmp(mine, first) == 0;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, comm);
  return all;
}

void bench_start_init(bench_start *start, MPI_Comm comm) {
  rgi_processors mine;
  int size;
  MPI_Comm_size(comm, &size);
  start->comm = comm;
  start->one_clock = same_kernel(comm);
  start->spin = start->one_clock && size <= rgi_processors_mine(&mine);
  prctl(PR_SET_TIMERSLACK, 1000L); /* else sleeping ends up to 50 us late */
}

int bench_start_wait(const bench_start *start, double when) {
  if (!start->one_clock) {
    MPI_Barrier(start->comm);
    return 0;
  }
  if (rgp_now() >= when)
    return 1;
  if (!start->spin) {
    struct timespec t = {.tv_sec = (time_t)when};
    t.tv_nsec = (long)(1e9 * (when - (double)t.tv_sec));
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
      continue;
  }
  while (rgp_now() < when)
    continue;
  return 0;
}
