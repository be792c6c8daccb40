/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A few calls of each kind, for test_pmpi_tool.py: 5 barriers, 3 allreduces, 2 sends and 4 puts by
 * each process, whose results it prints. */
#include <mpi.h>

#include "plain.h"

static int rank, size;

static void pass_on(void) {
  int got = -1;
  for (int i = 0; i < 2; i++) {
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  plain_number("received", got);
}

static void put(void) {
  MPI_Win win;
  int *mine;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 4; i++)
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, i, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  plain_print("window", mine, 4 * sizeof(int));
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  int sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 5; i++)
    MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; i++)
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  plain_number("sum", sum);
  pass_on();
  put();
  MPI_Finalize();
  return 0;
}
