/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A child that each process forks reads memory of MPI_Alloc_mem after its parent has changed it,
 * and changes it itself: whether both have their own. Then a window on it. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

enum { NUMBERS = 5000 };

/* What the child finds after the parent has written. */
static int64_t sum_of_child(volatile int64_t *memory, int go[2], int back[2]) {
  int64_t sum = 0;
  char word;
  pid_t child = fork();
  if (child == 0) {
    if (read(go[0], &word, 1) == 1)
      for (int i = 0; i < NUMBERS; i++)
        sum += memory[i];
    memory[5] = 77;
    _exit(write(back[1], &sum, sizeof sum) != sizeof sum);
  }
  for (int i = 0; i < NUMBERS; i++)
    memory[i] = -1;
  if (write(go[1], "", 1) != 1 || read(back[0], &sum, sizeof sum) != sizeof sum)
    sum = -1;
  waitpid(child, NULL, 0);
  return sum;
}

int main(int argc, char **argv) {
  int64_t *memory, got = 0;
  int go[2], back[2], rank, size;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Alloc_mem(NUMBERS * sizeof *memory, MPI_INFO_NULL, &memory);
  for (int i = 0; i < NUMBERS; i++)
    memory[i] = i;
  int piped = pipe(go) == 0 && pipe(back) == 0;
  int64_t sum = piped ? sum_of_child(memory, go, back) : -1;
  plain_number("own of child", sum == (int64_t)NUMBERS * (NUMBERS - 1) / 2);
  plain_number("own of parent", memory[5] == -1);
  memory[0] = rank;
  MPI_Win_create(memory, NUMBERS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT64_T, (rank + 1) % size, 0, 1, MPI_INT64_T, win);
  MPI_Win_fence(0, win);
  plain_number("wrong", got != (rank + 1) % size);
  MPI_Win_free(&win);
  MPI_Free_mem(memory);
  MPI_Finalize();
  return 0;
}
