/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The array program of docs/guide.md: a histogram that all members fill, each at its
 * own pace, out of pieces of work that they draw from a shared counter. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <unistd.h>

#define BINS 16
#define PIECES 200

static void check(int error) {
  if (error) {
    fprintf(stderr, "%s: %s\n", rg_error_string(error), rg_error_detail());
    sleep(1); /* so that mpiexec has read the line when it ends the job */
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* An array of integers that are 0. */
static rg_array zeros(rg_group g, int64_t n) {
  int64_t lo[1], hi[1], *mine;
  int rank;
  rg_array a;
  check(rg_array_create_simple(g, RG_TYPE_INT64, 1, &n, &a));
  check(rg_group_rank(g, &rank));
  check(rg_array_distribution(a, rank, lo, hi)); /* what is in my own memory */
  if (lo[0] < hi[0]) {
    check(rg_array_access(a, lo, hi, RG_ACCESS_WRITE, &mine, NULL));
    for (int64_t i = 0; i < hi[0] - lo[0]; i++)
      mine[i] = 0;
    check(rg_array_release(a, lo, hi));
  }
  check(rg_array_sync(a)); /* afterwards all see all */
  return a;
}

int main(int argc, char **argv) {
  rg_group world;
  rg_array histogram, counter;
  int64_t first = 0, all = BINS, piece, counts[BINS], sum = 0;
  int rank;
  MPI_Init(&argc, &argv);
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  histogram = zeros(world, BINS);
  counter = zeros(world, 1);

  /* No member distributes the work, and no member waits. */
  for (;;) {
    check(rg_array_read_inc(counter, &first, 1, &piece));
    if (piece >= PIECES)
      break;
    int64_t found[3] = {1, 2, 1}, lo = piece % (BINS - 2), hi = lo + 3;
    check(rg_array_acc(histogram, &lo, &hi, found, NULL, NULL));
  }

  check(rg_array_sync(histogram));
  check(rg_array_get(histogram, &first, &all, counts, NULL));
  for (int i = 0; i < BINS; i++)
    sum += counts[i];
  if (rank == 0)
    printf("%d pieces of work, %ld counts\n", PIECES, (long)sum);
  check(rg_array_free(&counter));
  check(rg_array_free(&histogram));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return sum == 4 * PIECES ? 0 : 1;
}
