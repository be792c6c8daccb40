/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What price.py starts: price REPEATS. Two or more ranks of a node meet in barriers; rank 0
 * prints "WAIT nanoseconds nanoseconds microseconds": a barrier, the median of batches; what one
 * wait does to notice deaths, by itself; and rg_group_comm. */
#include "base/clock.h"
#include "formation/group.h"
#include "progress/wait.h"
#include "ranks.h"
#include "shm/failure.h"
#include "shm/process.h"

#define BATCH 200

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static double median(double *times, int n) {
  qsort(times, (size_t)n, sizeof *times, by_size);
  return times[n / 2];
}

static double barriers(rg_group g, int repeats) {
  double *times = calloc((size_t)repeats, sizeof *times);
  for (int i = 0; i < repeats; i++) {
    double start = rgi_clock_now();
    for (int k = 0; k < BATCH; k++)
      must(!rg_barrier(g), "rg_barrier");
    times[i] = 1e9 * (rgi_clock_now() - start) / BATCH;
  }
  double result = median(times, repeats);
  free(times);
  return result;
}

/* As a wait does each time that it looks at the clock. */
static double looks(rg_group g, int repeats) {
  double *times = calloc((size_t)repeats, sizeof *times);
  must(!rgi_group_check_member("price", g), "the group");
  for (int i = 0; i < repeats; i++) {
    double start = rgi_clock_now();
    for (int k = 0; k < BATCH; k++) {
      rgi_process_check(start);
      must(!rgi_failure_check(&rgi_failure_scope_now, "price"), "a death");
    }
    times[i] = 1e9 * (rgi_clock_now() - start) / BATCH;
  }
  double result = median(times, repeats);
  free(times);
  return result;
}

static double communicators(rg_group g, int repeats) {
  double *times = calloc((size_t)repeats, sizeof *times);
  for (int i = 0; i < repeats; i++) {
    rg_group copy;
    MPI_Comm comm;
    must(!rg_group_dup(g, &copy) && !rg_barrier(g), "rg_group_dup");
    double start = rgi_clock_now();
    must(!rg_group_comm(copy, &comm), "rg_group_comm");
    times[i] = 1e6 * (rgi_clock_now() - start);
    rg_group_free(&copy);
  }
  double result = median(times, repeats);
  free(times);
  return result;
}

int main(int argc, char **argv) {
  int repeats = argc > 1 ? atoi(argv[1]) : 200;
  rg_group world = enter_world(&argc, &argv);
  barriers(world, repeats / 10 + 1);
  double wait = barriers(world, repeats), look = looks(world, repeats);
  double comm = communicators(world, repeats);
  if (my_rank == 0)
    printf("WAIT %.1f %.1f %.1f\n", wait, look, comm);
  leave_world(&world);
  return 0;
}
