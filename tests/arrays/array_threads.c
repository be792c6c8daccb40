/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "array_threads.h"

#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <sched.h>
#include <stdlib.h>

#include "tests/check/check.h"

enum { THREADS = 3, N = 64 };

int rounds = 200;

static rg_array counter, sums, mine;
static rg_mutexes mutex;
static int64_t plain; /* of this process, under the mutex with its number */

typedef struct {
  int number, wrong;
  int64_t drawn;
} worker;

/* A row of its own in `mine`, written and read; additions to `sums`; numbers drawn
 * from the counter; a plain variable under a mutex. */
static void *work(void *arg) {
  worker *w = arg;
  int64_t zero = 0, n = N, before;
  int64_t row = rgt_rank * THREADS + w->number, lo[2] = {row, 0}, hi[2] = {row + 1, N};
  double ones[N];
  int64_t out[N], in[N];
  for (int i = 0; i < N; i++)
    ones[i] = 1;
  for (int k = 0; k < rounds; k++) {
    for (int i = 0; i < N; i++)
      out[i] = row * 1000 + k + i;
    w->wrong += rg_array_put(mine, lo, hi, out, NULL) != RG_SUCCESS;
    w->wrong += rg_array_get(mine, lo, hi, in, NULL) != RG_SUCCESS;
    for (int i = 0; i < N; i++)
      w->wrong += in[i] != out[i];
    w->wrong += rg_array_acc(sums, &zero, &n, ones, NULL, NULL) != RG_SUCCESS;
    w->wrong += rg_array_read_inc(counter, &zero, 1, &before) != RG_SUCCESS;
    w->drawn += before;
    w->wrong += rg_mutexes_lock(mutex, rgt_rank) != RG_SUCCESS;
    int64_t seen = plain;
    if (k % 16 == 0)
      sched_yield();
    plain = seen + 1;
    w->wrong += rg_mutexes_unlock(mutex, rgt_rank) != RG_SUCCESS;
  }
  return NULL;
}

static void begin(rg_group world) {
  int64_t zeros[N] = {0}, n = N, zero = 0, one = 1, shape[2] = {rgt_size * THREADS, N};
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &one, &counter));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, &n, &sums));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 2, shape, &mine));
  RGT_OK(rg_mutexes_create(world, rgt_size, &mutex));
  if (rgt_rank == 0) {
    RGT_OK(rg_array_put(counter, &zero, &one, zeros, NULL));
    RGT_OK(rg_array_put(sums, &zero, &n, zeros, NULL));
  }
  RGT_OK(rg_array_sync(counter));
  RGT_OK(rg_array_sync(sums));
  RGT_OK(rg_array_sync(mine));
}

static void run(void) {
  pthread_t thread[THREADS];
  worker w[THREADS] = {{0}};
  int64_t drawn = 0, all = (int64_t)rounds * THREADS * rgt_size, zero = 0, n = N;
  double got[N];
  for (int i = 0; i < THREADS; i++) {
    w[i].number = i;
    RGT_INT(pthread_create(&thread[i], NULL, work, &w[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    RGT_INT(w[i].wrong, 0);
    drawn += w[i].drawn;
  }
  RGT_INT(plain, (int64_t)rounds * THREADS);
  MPI_Allreduce(MPI_IN_PLACE, &drawn, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(drawn, all * (all - 1) / 2);
  RGT_OK(rg_array_sync(sums));
  RGT_OK(rg_array_get(sums, &zero, &n, got, NULL));
  for (int i = 0; i < N; i++)
    RGT_DBL(got[i], (double)all, 0);
}

static void *lock_and_end(void *m) {
  return rg_mutexes_lock(m, 0) == RG_SUCCESS ? NULL : m;
}

static void *unlock(void *m) {
  return rg_mutexes_unlock(m, 0) == RG_ERR_ARG ? NULL : m;
}

/* A thread is not taken for an earlier one that has ended. What that one has locked stays so. */
static void ended_owner(void) {
  static rg_mutexes held; /* reachable, since it cannot be freed */
  pthread_t thread;
  rg_group own;
  void *wrong;
  RGT_OK(rg_group_world(&own));
  RGT_OK(rg_mutexes_create(own, 1, &held));
  for (int i = 0; i < 2 && rgt_rank == 0; i++) {
    RGT_INT(pthread_create(&thread, NULL, i ? unlock : lock_and_end, held), 0);
    pthread_join(thread, &wrong);
    RGT_PTR_NULL(wrong);
  }
  if (rgt_rank)
    RGT_OK(rg_mutexes_free(&held));
  RGT_OK(rg_group_free(&own));
}

void test_threads(void) {
  rg_group world;
  int level;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  begin(world);
  run();
  ended_owner();
  RGT_OK(rg_array_sync(sums));
  RGT_OK(rg_mutexes_free(&mutex));
  RGT_OK(rg_array_free(&counter));
  RGT_OK(rg_array_free(&sums));
  RGT_OK(rg_array_free(&mine));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}
