/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "remote_busy.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "engine/engine.h"
#include "runtime/runtime.h"
#include "tests/arrays/engine_calls.h"
#include "tests/bench/stats.h"

static const char *const names[] = {"put 8 B", "get 8 B", "acc 8 B", "read-increment"};
enum { OPERATIONS = sizeof names / sizeof *names };

/* One operation, until it is complete at the target. */
static void run_operation(int which, int target, uint64_t at) {
  rgi_strided p = rgi_strided_flat(8);
  int64_t value = 1;
  if (which == 0)
    internal_must(engine_put(target, at, &value, &p));
  else if (which == 1)
    internal_must(engine_get(target, at, &value, &p));
  else if (which == 2)
    internal_must(engine_acc(target, at, &value, &p, RG_TYPE_INT64, NULL));
  else
    internal_must(engine_fetch_add(target, at, RG_TYPE_INT64, 1, &value));
  internal_must(rgi_engine_fence(target));
}

static void compute_for(double seconds) {
  for (double end = rgp_now() + seconds; rgp_now() < end;)
    ;
}

void remote_busy(int milliseconds, int times, uint64_t offset) {
  double *seconds = calloc((size_t)times, sizeof *seconds);
  int target = rgi_runtime.size - 1;
  if (rgi_runtime.rank == 0)
    printf("The target computes for %d ms; times in microseconds, of %d.\n\n%-16s %10s %10s\n",
           milliseconds, times, "", "median", "most");
  for (int k = 0; k < OPERATIONS; k++) {
    for (int i = 0; i < times; i++) {
      MPI_Barrier(rgi_runtime.comm);
      if (rgi_runtime.rank == target)
        compute_for(milliseconds * 1e-3);
      if (rgi_runtime.rank)
        continue;
      compute_for(milliseconds * 1e-4); /* the target has begun */
      double begin = rgp_now();
      run_operation(k, target, offset);
      seconds[i] = rgp_now() - begin;
    }
    bench_stats s;
    if (rgi_runtime.rank == 0 && bench_stats_of(times, seconds, &s))
      printf("%-16s %10.1f %10.1f\n", names[k], s.median * 1e6, s.max * 1e6);
  }
  free(seconds);
}
