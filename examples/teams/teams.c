/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The program of the README: teams of four are formed by their members alone, and add up their
 * ranks. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>

int main(int argc, char **argv) {
  rg_group world, team;
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  if (rg_init(MPI_COMM_WORLD, NULL) != RG_SUCCESS) {
    fprintf(stderr, "%s\n", rg_error_detail());
    return 1;
  }
  rg_group_world(&world);
  rg_group_rank(world, &rank);
  rg_group_size(world, &size);
  int first = rank - rank % 4, last = first + 3 < size ? first + 3 : size - 1;
  rg_group_create_range(world, first, last, 1, 0, &team); /* only the members call; no message */
  rg_allreduce(team, &rank, &sum, 1, MPI_INT, MPI_SUM);
  if (rank == first)
    printf("ranks %d to %d: the sum is %d\n", first, last, sum);
  rg_group_free(&team);
  rg_finalize();
  return MPI_Finalize();
}
