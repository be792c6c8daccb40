/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One-sided accesses to processes that wait in a collective: MPI must progress there. */
#include "plain.h"

#define COUNT 5000

int main(int argc, char **argv) {
  MPI_Datatype gaps;
  MPI_Win window;
  double *memory, mine[COUNT], sum = 0;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Alloc_mem(2 * COUNT * sizeof *memory, MPI_INFO_NULL, &memory);
  for (int i = 0; i < 2 * COUNT; i++)
    memory[i] = i < COUNT ? (mine[i] = rank) : 0;
  MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Win_create(memory, 2 * COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  for (int turn = 0; turn < size; turn++) {
    for (int i = 0; i < size && rank == turn; i++) {
      MPI_Win_lock(MPI_LOCK_SHARED, i, 0, window);
      MPI_Accumulate(mine, COUNT, MPI_DOUBLE, i, 0, 1, gaps, MPI_SUM, window);
      MPI_Win_unlock(i, window);
    }
    MPI_Bcast(mine, 1, MPI_DOUBLE, turn, MPI_COMM_WORLD); /* the others wait here */
    mine[0] = rank;
  }
  MPI_Win_free(&window);
  for (int i = 0; i < 2 * COUNT; i++)
    sum += memory[i];
  plain_number("sum", (long long)sum);
  MPI_Free_mem(memory);
  MPI_Type_free(&gaps);
  MPI_Finalize();
  return 0;
}
