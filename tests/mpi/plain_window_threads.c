/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Threads that use one window at the same time: each locks a target of its own, accumulates and
 * unlocks, again and again. The sums have a closed form. */
#include <pthread.h>
#include <stdint.h>

#include "plain.h"

enum { TIMES = 20000, THREADS = 2, EACH = 64 };

static int rank, size;
static MPI_Win win;

static void *add_often(void *thread) {
  int target = (rank + *(int *)thread) % size;
  int64_t one = 1;
  for (int i = 0; i < TIMES; i++) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_unlock(target, win);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int level, number[THREADS];
  int64_t *base;
  pthread_t thread[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  plain_called("rma", 0);
  plain_called("barrier", 0);
  MPI_Win_allocate(EACH, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(0, win);
  *base = 0;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < THREADS && i < size; i++) {
    number[i] = i;
    pthread_create(&thread[i], NULL, add_often, &number[i]);
  }
  for (int i = 0; i < THREADS && i < size; i++)
    pthread_join(thread[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  int64_t sum = *base;
  MPI_Win_unlock(rank, win);
  plain_number("wrong", sum != (int64_t)TIMES * (size < THREADS ? size : THREADS));
  MPI_Win_free(&win);
  plain_counts();
  MPI_Finalize();
  return 0;
}
