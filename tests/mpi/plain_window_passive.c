/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses to a target that calls nothing of MPI's meanwhile: it reads its own memory until it
 * finds the last number there, or gives up. On each node members access the one before them. With
 * an argument: by accumulates and locks, too. */
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "plain.h"

enum { N = 100, LAST = N - 1, SECONDS = 20 };

static int wrong;

static void check(int good) {
  wrong += !good;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put_and_get(int target, MPI_Win win) {
  int64_t sent[N], got[N] = {0};
  MPI_Datatype spread;
  for (int i = 0; i < N; i++)
    sent[i] = 3 * i + 1;
  MPI_Type_vector(N / 2, 1, 2, MPI_INT64_T, &spread);
  MPI_Type_commit(&spread);
  MPI_Put(sent, N / 2, MPI_INT64_T, target, 0, N / 2, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
  MPI_Get(got, 1, spread, target, 0, N / 2, MPI_INT64_T, win);
  MPI_Win_flush_all(win);
  for (int i = 0; i < N / 2; i++)
    check(got[2 * i] == sent[i]);
  MPI_Type_free(&spread);
}

static void accumulate(int target, MPI_Win win) {
  const int64_t one = 1, five = 5, seven = 7;
  int64_t got[3] = {0};
  MPI_Accumulate(&one, 1, MPI_INT64_T, target, 60, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Fetch_and_op(&five, &got[0], MPI_INT64_T, target, 60, MPI_SUM, win);
  MPI_Win_flush(target, win);
  MPI_Compare_and_swap(&seven, &got[0], &got[1], MPI_INT64_T, target, 61, win);
  MPI_Win_flush(target, win);
  MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &got[2], 1, MPI_INT64_T, target, 60, 1, MPI_INT64_T,
                     MPI_NO_OP, win);
  MPI_Win_flush(target, win);
  check(got[0] == 1 && got[1] == 0 && got[2] == 6);
}

static void write_last(int target, MPI_Win win) {
  const int64_t last = 4711;
  MPI_Put(&last, 1, MPI_INT64_T, target, LAST, 1, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
}

static void await_last(const volatile int64_t *base) {
  double end = now() + SECONDS;
  while (base[LAST] == 0 && now() < end)
    sched_yield();
  check(base[LAST] == 4711);
}

static void lock_and_put(int target, MPI_Win win) {
  for (int i = 0; i < 10; i++) {
    const int64_t number = i;
    MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(&number, 1, MPI_INT64_T, target, 70, 1, MPI_INT64_T, win);
    MPI_Win_unlock(target, win);
  }
}

static void access_target(int target, MPI_Win win, int all) {
  if (all)
    lock_and_put(target, win);
  MPI_Win_lock_all(all ? 0 : MPI_MODE_NOCHECK, win);
  put_and_get(target, win);
  if (all)
    accumulate(target, win);
  write_last(target, win);
  MPI_Win_unlock_all(win);
}

/* One half of the members accesses the other half. */
static void try_window(MPI_Win win, int64_t *base, MPI_Comm node, const int ranks[], int all) {
  int me, n;
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  memset(base, 0, N * sizeof *base);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me % 2)
    access_target(ranks[me - 1], win, all);
  else if (me + 1 < n)
    await_last(base);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  const MPI_Aint bytes = N * sizeof(int64_t);
  int rank, n;
  int64_t *base;
  MPI_Win win;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &n);
  int ranks[n];
  MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, node);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
  MPI_Win_create(base, bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  try_window(win, base, node, ranks, argc > 1);
  MPI_Free_mem(base);
  MPI_Win_allocate(bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  try_window(win, base, node, ranks, argc > 1);
  MPI_Comm_free(&node);
  plain_number("wrong", wrong);
  MPI_Finalize();
  return wrong != 0;
}
