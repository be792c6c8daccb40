/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Exclusive locks are fair. Arguments: rounds and a quota. In each round one process has the lock
 * while all others ask for it, gives it back and asks again: how often was it the last to get it?
 * (Others that have lost their processors before they ask come later.) Then all processes ask again
 * and again, until each has had the lock as often as the quota says; with a process that starves
 * that never ends. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "plain.h"

static MPI_Win win; /* a counter for each process, on process 0 */
static int64_t *base, *counts;
static int rank, size;

/* Before this call the caller's counter was as it returns. */
static int64_t count_one(int counter) {
  const int64_t one = 1;
  int64_t before = -1;
  MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, counter, MPI_SUM, win);
  MPI_Win_flush(0, win);
  return before;
}

static int64_t take_turn(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  int64_t before = count_one(0);
  MPI_Win_unlock(0, win);
  return before;
}

/* The number of the caller's turn in this round. */
static int64_t run_round(int owner) {
  const struct timespec moment = {0, 3000000}; /* for the others to ask */
  if (rank == owner)
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == owner) {
    nanosleep(&moment, NULL);
    MPI_Win_unlock(0, win);
  }
  return take_turn();
}

static int run_rounds(int rounds) {
  int last = 0;
  for (int i = 0; i < rounds; i++) {
    int64_t turn = run_round(i % size) - (int64_t)i * size;
    last += rank == i % size && turn == size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return last;
}

static int64_t least(void) {
  int64_t found = counts[0];
  for (int i = 1; i < size; i++)
    found = counts[i] < found ? counts[i] : found;
  return found;
}

/* Whether the counters are right: only the owner of the lock changes one. */
static int reach_quota(int64_t quota) {
  int64_t turns = 0, found = 0;
  while (found < quota) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(counts, size, MPI_INT64_T, 0, 0, size, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    counts[rank]++;
    MPI_Put(&counts[rank], 1, MPI_INT64_T, 0, rank, 1, MPI_INT64_T, win);
    found = least();
    MPI_Win_unlock(0, win);
    turns++;
  }
  return counts[rank] == turns;
}

static void clear(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; i++)
    base[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1, quota = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  counts = calloc((size_t)size, sizeof *counts);
  MPI_Win_allocate(rank == 0 ? size * (MPI_Aint)sizeof *base : 0, sizeof *base, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &base, &win);
  clear();
  plain_number("last", run_rounds(rounds));
  clear();
  plain_number("quota", reach_quota(quota));
  MPI_Win_free(&win);
  free(counts);
  MPI_Finalize();
  return 0;
}
