/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Puts to a process that computes: no one-sided operation inside a node needs its
 * target. */
#include "../stats.h"
#include "bench.h"
#include "runtime/program/program.h"

#define ROUNDS 9
#define PUTS 2000
#define COMPUTING 0.3

static double time_puts(rg_array a, int64_t at) {
  int64_t lo[1], hi[1];
  double from = rgp_now();
  for (int i = 0; i < PUTS; i++) {
    double x = i;
    lo[0] = at + i % SPOTS;
    hi[0] = lo[0] + 1;
    if (rg_array_put(a, lo, hi, &x, NULL))
      return -1;
  }
  return (rgp_now() - from) / PUTS;
}

/* One round: rank 0's time, or 0 on the others. */
static double one(rg_group world, rg_array a, int rank, int64_t at, int computing) {
  double took = 0, until;
  rg_barrier(world);
  until = rgp_now() + COMPUTING;
  if (rank == 0)
    took = time_puts(a, at);
  else
    while (computing && rgp_now() < until)
      continue;
  rg_barrier(world);
  return took;
}

int ga_busy(rg_group world, double *waiting, double *computing) {
  int rank, ranks;
  int64_t shape[1], lo[1], hi[1];
  double times[2][ROUNDS];
  bench_stats stats;
  rg_array a;
  rg_group_rank(world, &rank);
  rg_group_size(world, &ranks);
  shape[0] = (int64_t)ranks * SPOTS;
  if (rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, shape, &a) ||
      rg_array_distribution(a, ranks - 1, lo, hi))
    return 0;
  for (int r = 0; r < ROUNDS; r++)
    for (int how = 0; how < 2; how++)
      times[how][r] = one(world, a, rank, lo[0], how);
  rg_array_free(&a);
  for (int how = 0; how < 2; how++) {
    if (!bench_stats_of(ROUNDS, times[how], &stats))
      return 0;
    *(how ? computing : waiting) = stats.median;
  }
  return 1;
}
