/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_opened.py: a module that is linked with MPI, as an interpreter opens it (opener.c). */
#include <mpi.h>
#include <stdio.h>

/* init: MPI_Init, of the caller's choice. */
__attribute__((visibility("default"))) int run(int init(int *, char ***));
int run(int init(int *, char ***)) {
  int rank, size, got = -1, done = 0, sum = 0;
  MPI_Request request;
  if ((init ? init : MPI_Init)(NULL, NULL))
    return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
  while (!done)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("sum %d\n", sum);
  return MPI_Finalize();
}
