/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A user's first program: what the tests compile against the installed package. */
#include <regroup.h>
#include <stdio.h>

int main(int argc, char **argv) {
  rg_group world = NULL;
  int size = 0, rank = -1, active = -1, error;
  MPI_Init(&argc, &argv);
  error = rg_init(MPI_COMM_WORLD, NULL);
  if (!error)
    error = rg_group_world(&world) || rg_group_size(world, &size) || rg_group_rank(world, &rank) ||
            rg_group_free(&world) || rg_polite_active(&active) || rg_finalize();
  if (error)
    fprintf(stderr, "%s\n", rg_error_detail());
  else if (rank == 0)
    printf("size %d polite %d\n", size, active);
  MPI_Finalize();
  return error != 0;
}
