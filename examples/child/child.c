/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The children of examples/parent: started by MPI_Comm_spawn, or acquired out of the
 * reserve. They run the same code in both cases. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>

#include "../common/check.h"

int main(int argc, char **argv) {
  MPI_Comm world, parent;
  int rank = 0, size, parents, started;
  MPI_Init(&argc, &argv);
  if (rg_intercomm_parent(&world, &parent, &started)) {
    fprintf(stderr, "%s\n", rg_error_detail());
    common_abort(1);
  }
  if (world != MPI_COMM_NULL) {
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    if (parent == MPI_COMM_NULL) {
      if (rank == 0)
        printf("hello from %d processes without a parent: example-parent starts children\n", size);
    } else {
      MPI_Comm_remote_size(parent, &parents);
      printf("hello from child %d of %d; parents: %d\n", rank, size, parents);
      fflush(stdout);
      MPI_Reduce(&rank, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
      MPI_Comm_disconnect(&parent);
    }
  }
  if (started)
    rg_finalize();
  MPI_Finalize();
  return 0;
}
