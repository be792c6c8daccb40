/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The program of docs/guide.md that goes on when some of its processes are killed. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 500 };

/* Of the points of a square grid, those in this step's rows and in the quarter of a circle. */
static long count(long side, int step, int rank, int size) {
  long inside = 0;
  for (long y = step + (long)STEPS * rank; y < side; y += (long)STEPS * size)
    for (long x = 0; x < side; x++)
      inside += x * x + y * y < side * side;
  return inside;
}

int main(int argc, char **argv) {
  rg_group team, survivors;
  int rank, size;
  long inside = 0, side = argc > 1 ? atol(argv[1]) : 20000;
  MPI_Init(&argc, &argv);
  rg_init(MPI_COMM_WORLD, NULL);
  rg_group_world(&team);
  for (int step = 0; step < STEPS; step++) {
    rg_group_rank(team, &rank);
    rg_group_size(team, &size);
    long sum = count(side, step, rank, size);
    unsigned well = rg_allreduce(team, MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM) == RG_SUCCESS;
    rg_group_agree(team, &well, NULL);
    if (!well) { /* members have died: the survivors repeat this step */
      rg_group_shrink(team, &survivors);
      rg_group_free(&team);
      team = survivors;
      step--;
      continue;
    }
    inside += sum;
  }
  if (rank == 0)
    printf("%ld points, pi is about %.5f\n", inside, 4.0 * (double)inside / side / side);
  rg_group_free(&team);
  rg_finalize();
  MPI_Finalize();
  return 0;
}
