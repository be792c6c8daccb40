/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_PROGRESS_THREAD=1 RG_TIMEOUT=60
 * Operations on a process that computes go on all the same, by the engine's call of rg_progress
 * or by the progress thread; and several threads at a time. */
#include <check.h>
#include <pthread.h>
#include <regroup.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "runtime/runtime.h"
#include "tests/arrays/engine_calls.h"

static const rgi_strided word = {
    .dims = 1, .extent = {sizeof(int64_t)}, .origin_stride = {1}, .target_stride = {1}};

static _Atomic int64_t *mine(uint64_t at) {
  return rgi_heap_at(rgt_rank, at);
}

/* The last rank computes until rank 0 has read, added, compared and put; a rank without progress
 * would compute until the limit. */
static void serve(void (*now_and_then)(void)) {
  uint64_t at = 0;
  int target = rgt_size - 1;
  RGT_OK(rgi_heap_take("test", 64, &at));
  RGT_INT(at, 0);
  atomic_store(mine(at), 5);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0) {
    int64_t value = 0, add = 2;
    RGT_OK(engine_get(target, at, &value, &word));
    RGT_INT(value, 5);
    RGT_OK(engine_acc(target, at, &add, &word, RG_TYPE_INT64, NULL));
    RGT_OK(engine_fetch_add(target, at, RG_TYPE_INT64, 3, &value));
    RGT_INT(value, 7);
    RGT_OK(engine_compare_and_swap(target, at, RG_TYPE_INT64, 10, 11, &value));
    RGT_INT(value, 10);
    value = 77;
    RGT_OK(engine_put(target, at, &value, &word));
    RGT_OK(rgi_engine_fence(target));
  } else if (rgt_rank == target) {
    while (atomic_load(mine(at)) != 77)
      now_and_then();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_heap_give(at, 64);
}

static void compute(void) {
  for (volatile int i = 0; i < 1000; i++)
    ;
}

static void test_thread(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_TRUE(rgi_runtime.threads);
  serve(compute);
  RGT_OK(rg_finalize());
}

static void test_call(void) {
  char off[] = "0";
  setenv("RG_PROGRESS_THREAD", off, 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  serve(rgi_engine_progress);
}

/* --- threads ------------------------------------------------------------------------ */

enum { THREADS = 3, TIMES = 60, PLACES = 200 };

static uint64_t block;

static void *work(void *argument) {
  int64_t me = *(int *)argument, target = (rgt_rank + 1) % rgt_size, one = 1, before;
  uint64_t own = block + 64 + (uint64_t)me * PLACES * 8;
  int64_t buffer[PLACES], got[PLACES];
  rgi_strided p = rgi_strided_flat(sizeof buffer);
  for (int i = 0; i < TIMES; i++) {
    uint64_t some;
    for (int k = 0; k < PLACES; k++)
      buffer[k] = i * 1000 + me + k;
    RGT_OK(engine_put((int)target, own, buffer, &p));
    RGT_OK(engine_acc((int)target, block, &one, &word, RG_TYPE_INT64, NULL));
    RGT_OK(engine_fetch_add(0, block + 8, RG_TYPE_INT64, 1, &before));
    RGT_OK(rgi_heap_take("test", (size_t)(1 + i % 5) * 100, &some));
    RGT_OK(engine_get((int)target, own, got, &p));
    for (int k = 0; k < PLACES; k++)
      if (got[k] != buffer[k])
        return argument;
    rgi_heap_give(some, (size_t)(1 + i % 5) * 100);
    if (i % 20 == 0)
      RGT_OK(rgi_engine_fence(-1));
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t thread[THREADS];
  int number[THREADS];
  void *bad;
  RGT_OK(rgi_heap_take("test", 64 + THREADS * PLACES * 8, &block));
  RGT_INT(block, 0);
  atomic_store(mine(0), 0);
  atomic_store(mine(8), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    pthread_create(&thread[i], NULL, work, &number[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], &bad);
    RGT_PTR_NULL(bad);
  }
  RGT_OK(rgi_engine_fence(-1));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(atomic_load(mine(0)), THREADS * TIMES);
  RGT_INT(atomic_load(mine(8)), rgt_rank ? 0 : THREADS * TIMES * rgt_size);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_finalize());
}

/* A file that the target makes when it stops calling MPI, and that rank 0 removes: messages would
 * be progress. */
static char sign[RGT_PATH];

static void wait_for_sign(int there) {
  while ((access(sign, F_OK) == 0) != there)
    rgi_clock_sleep(0.01);
}

/* An accumulate on a rank that computes for longer than RG_TIMEOUT ends with an error;
 * it is done all the same, later. */
static void test_timeout(void) {
  static int64_t add = 4; /* stays in use */
  uint64_t at;
  int target = rgt_size - 1;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rgi_heap_take("test", 64, &at));
  atomic_store(mine(0), 5);
  rgt_temporary(sign);
  if (rgt_rank == 0) {
    close(mkstemp(sign));
    unlink(sign);
  }
  MPI_Bcast(sign, sizeof sign, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rgt_rank == target) {
    fclose(fopen(sign, "w"));
    wait_for_sign(0);
  } else if (rgt_rank == 0) {
    wait_for_sign(1);
    unsetenv("RG_TIMEOUT");
    RGT_OK(rgi_options_load("timeout=1"));
    RGT_FAILS(engine_acc(target, at, &add, &word, RG_TYPE_INT64, NULL), RG_ERR_TIMEOUT);
    RGT_OK(rgi_options_load("timeout=60"));
    unlink(sign);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rgi_engine_fence(-1));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(atomic_load(mine(0)), rgt_rank == target ? 9 : 5);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_finalize());
}

/* Heap parts must be of one size: all get the error, and nothing is left behind. */
static void test_sizes(void) {
  RGT_FAILS(rg_init(MPI_COMM_WORLD, rgt_rank ? "array_share=16" : "array_share=8"), RG_ERR_OPTION);
  RGT_OK(rg_init(MPI_COMM_WORLD, "array_share=8"));
  uint64_t at;
  RGT_OK(rgi_heap_take("test", (size_t)8 << 20, &at));
  RGT_FAILS(rgi_heap_take("test", 1, &at), RG_ERR_NOMEM);
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"thread", test_thread},   {"call", test_call},
                                   {"threads", test_threads}, {"timeout", test_timeout},
                                   {"sizes", test_sizes},     {NULL, NULL}};
  return rgt_main(argc, argv, "engine_progress", tests);
}
