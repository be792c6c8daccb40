/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "contention.h"

#include <complex.h>
#include <fcntl.h>
#include <mpi.h>
#include <regroup.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check/check.h"

int rounds = 300;

static rg_group world;

void test_start(void) {
  srandom((unsigned)rgt_seed() + 100 * (unsigned)rgt_rank);
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
}

void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Sometimes other processes run, sometimes this one sleeps. */
static void delay(void) {
  long what = random() % 40;
  if (what == 0)
    usleep((useconds_t)(random() % 300));
  else if (what < 6)
    sched_yield();
}

static rg_array zeros(rg_array_type type, int dims, const int64_t shape[]) {
  rg_array a;
  int64_t n = 1, lo[RG_ARRAY_MAX_DIMS] = {0};
  for (int d = 0; d < dims; d++)
    n *= shape[d];
  void *zero = calloc((size_t)n, 16);
  RGT_OK(rg_array_create_simple(world, type, dims, shape, &a));
  if (rgt_rank == 0)
    RGT_OK(rg_array_put(a, lo, shape, zero, NULL));
  RGT_OK(rg_array_sync(a));
  free(zero);
  return a;
}

static void fill(rg_array_type type, void *to, int n, int value) {
  for (int i = 0; i < n; i++)
    switch (type) {
    case RG_TYPE_INT32:
      ((int32_t *)to)[i] = value;
      break;
    case RG_TYPE_INT64:
      ((int64_t *)to)[i] = value;
      break;
    case RG_TYPE_FLOAT:
      ((float *)to)[i] = (float)value;
      break;
    case RG_TYPE_DOUBLE:
      ((double *)to)[i] = value;
      break;
    case RG_TYPE_FLOAT_COMPLEX:
      ((float complex *)to)[i] = (float)value;
      break;
    default:
      ((double complex *)to)[i] = value;
    }
}

/* Every member adds 2 * (rank + 1) to every element, in patches at random places,
 * which are made up to the whole in the end. */
static int lost(rg_array_type type, size_t element) {
  enum { N = 24, M = 18 };
  int64_t shape[2] = {N, M}, lo[2], hi[2];
  char buf[N * M * 16], expected[N * M * 16], two[16], all[N * M * 16];
  int missing[N][M] = {{0}}, lots = rounds / 10 + 1, sum = 0;
  rg_array a = zeros(type, 2, shape);
  fill(type, two, 1, 2);
  fill(type, buf, N * M, rgt_rank + 1);
  for (int i = 0; i < rounds; i++) {
    for (int d = 0; d < 2; d++) {
      lo[d] = random() % shape[d];
      hi[d] = lo[d] + 1 + random() % (shape[d] - lo[d]);
    }
    int possible = 1;
    for (int64_t x = lo[0]; x < hi[0]; x++)
      for (int64_t y = lo[1]; y < hi[1]; y++)
        possible &= missing[x][y] < lots;
    if (!possible)
      continue;
    RGT_OK(rg_array_acc(a, lo, hi, buf, NULL, two));
    for (int64_t x = lo[0]; x < hi[0]; x++)
      for (int64_t y = lo[1]; y < hi[1]; y++)
        missing[x][y]++;
    delay();
  }
  for (int64_t x = 0; x < N; x++)
    for (int64_t y = 0; y < M; y++)
      for (; missing[x][y] < lots; missing[x][y]++)
        RGT_OK(rg_array_acc(a, (int64_t[]){x, y}, (int64_t[]){x + 1, y + 1}, buf, NULL, two));
  RGT_OK(rg_array_sync(a));
  for (int r = 0; r < rgt_size; r++)
    sum += 2 * (r + 1) * lots;
  fill(type, expected, N * M, sum);
  RGT_OK(rg_array_get(a, (int64_t[]){0, 0}, shape, all, NULL));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
  return memcmp(all, expected, N * M * element) != 0;
}

void test_accumulate(void) {
  static const size_t size[] = {4, 8, 4, 8, 8, 16};
  for (rg_array_type type = RG_TYPE_INT32; type < RG_TYPE_OPAQUE; type++)
    RGT_INT(lost(type, size[type]), 0);
}

void test_elements(void) {
  enum { N = 40, LIST = 50 };
  int64_t n = N, at[LIST];
  double ones[LIST], all[N], sum = 0;
  rg_array a = zeros(RG_TYPE_DOUBLE, 1, &n);
  fill(RG_TYPE_DOUBLE, ones, LIST, 1);
  for (int i = 0; i < rounds / 5; i++) {
    for (int k = 0; k < LIST; k++)
      at[k] = random() % N;
    RGT_OK(rg_array_scatter_acc(a, LIST, at, ones, NULL));
    delay();
  }
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_get(a, (int64_t[]){0}, &n, all, NULL));
  for (int i = 0; i < N; i++)
    sum += all[i];
  RGT_DBL(sum, (double)rgt_size * LIST * (rounds / 5), 0);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* Every number is drawn once. */
void test_counter(void) {
  for (rg_array_type type = RG_TYPE_INT32; type <= RG_TYPE_INT64; type++) {
    int64_t n = 3, at = 1, before = -1, total = (int64_t)rounds * rgt_size;
    int *drawn = calloc((size_t)total, sizeof *drawn), wrong = 0;
    rg_array a = zeros(type, 1, &n);
    for (int i = 0; i < rounds; i++) {
      int64_t last = before;
      RGT_OK(rg_array_read_inc(a, &at, 1, &before));
      wrong += before <= last || before >= total;
      if (before >= 0 && before < total)
        drawn[before]++;
      delay();
    }
    MPI_Allreduce(MPI_IN_PLACE, drawn, (int)total, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t i = 0; i < total; i++)
      wrong += drawn[i] != 1;
    RGT_INT(wrong, 0);
    free(drawn);
    RGT_OK(rg_array_sync(a));
    RGT_OK(rg_array_free(&a));
  }
}

/* Accumulates, read-increments and compare-and-swaps on one element. */
void test_mixed(void) {
  int64_t n = 2, at = 1, end = 2, before, total, one = 1;
  rg_array a = zeros(RG_TYPE_INT64, 1, &n);
  for (int i = 0; i < rounds; i++) {
    RGT_OK(rg_array_acc(a, &at, &end, &one, NULL, NULL));
    RGT_OK(rg_array_read_inc(a, &at, 1, &before));
    RGT_OK(rg_array_scatter_acc(a, 1, &at, &one, NULL));
    for (int64_t seen = before, old;; seen = old) {
      RGT_OK(rg_array_compare_and_swap(a, &at, seen, seen + 1, &old));
      if (old == seen)
        break;
    }
    delay();
  }
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_get(a, &at, &end, &total, NULL));
  RGT_INT(total, (int64_t)4 * rounds * rgt_size);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* A value of 64 bits and one of 32 that they cannot have. */
void test_swap(void) {
  int64_t n = rgt_size, mine = rgt_rank, before;
  rg_array a = zeros(RG_TYPE_INT32, 1, &n);
  RGT_OK(rg_array_compare_and_swap(a, &mine, (int64_t)1 << 40, 5, &before));
  RGT_INT(before, 0);
  RGT_OK(rg_array_compare_and_swap(a, &mine, 0, -5, &before));
  RGT_INT(before, 0);
  RGT_OK(rg_array_compare_and_swap(a, &mine, -5, 9, &before));
  RGT_INT(before, -5);
  RGT_OK(rg_array_read_inc(a, &mine, -2, &before));
  RGT_INT(before, 9);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* --- mutexes ------------------------------------------------------------------------------ */

/* Not atomic by itself: get, a delay, put. */
void test_mutexes(void) {
  enum { N = 5 };
  int64_t n = N, done[N] = {0}, all[N];
  rg_array a = zeros(RG_TYPE_INT64, 1, &n);
  rg_mutexes m;
  int locked;
  RGT_OK(rg_mutexes_create(world, N, &m));
  for (int i = 0; i < rounds; i++) {
    int64_t at = random() % N, end = at + 1, value;
    if (random() % 2) {
      RGT_OK(rg_mutexes_lock(m, at));
    } else {
      do {
        RGT_OK(rg_mutexes_try(m, at, &locked));
        if (!locked)
          sched_yield();
      } while (!locked);
    }
    RGT_OK(rg_array_get(a, &at, &end, &value, NULL));
    delay();
    value++;
    RGT_OK(rg_array_put(a, &at, &end, &value, NULL));
    RGT_OK(rg_mutexes_unlock(m, at));
    done[at]++;
    delay();
  }
  RGT_OK(rg_array_sync(a));
  MPI_Allreduce(MPI_IN_PLACE, done, N, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_OK(rg_array_get(a, (int64_t[]){0}, &n, all, NULL));
  for (int i = 0; i < N; i++)
    RGT_INT(all[i], done[i]);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_mutexes_free(&m));
  RGT_PTR_NULL(m);
  RGT_OK(rg_mutexes_free(&m));
  RGT_OK(rg_array_free(&a));
}

/* The wait for a mutex moves messages on: the one who has it waits for a long message first. */
void test_mutex_meanwhile(void) {
  static char data[300000];
  rg_mutexes m;
  rg_request out = NULL;
  RGT_OK(rg_mutexes_create(world, 1, &m));
  if (rgt_rank == 1)
    RGT_OK(rg_mutexes_lock(m, 0));
  RGT_OK(rg_barrier(world));
  if (rgt_rank == 0 && rgt_size > 1)
    RGT_OK(rg_isend(world, data, sizeof data, MPI_BYTE, 1, 1, &out));
  if (rgt_rank == 1)
    RGT_OK(rg_recv(world, data, sizeof data, MPI_BYTE, 0, 1, NULL));
  if (rgt_rank != 1)
    RGT_OK(rg_mutexes_lock(m, 0));
  RGT_OK(rg_mutexes_unlock(m, 0));
  RGT_OK(rg_wait(&out, NULL));
  RGT_OK(rg_mutexes_free(&m));
}

void test_mutex_errors(void) {
  rg_mutexes m = NULL;
  int locked;
  RGT_FAILS(rg_mutexes_create(world, 0, &m), RG_ERR_ARG);
  RGT_FAILS(rg_mutexes_create(world, INT64_MAX, &m), RG_ERR_NOMEM);
  RGT_TRUE(strstr(rg_error_detail(), "9223372036854775807"));
  RGT_FAILS(rg_mutexes_create(NULL, 1, &m), RG_ERR_GROUP);
  RGT_FAILS(rg_mutexes_lock(NULL, 0), RG_ERR_ARRAY);
  RGT_PTR_NULL(m);
  /* One member gives a wrong number: the others do not wait, and the next mutexes work. */
  int error = rg_mutexes_create(world, rgt_rank ? 2 : -2, &m);
  RGT_TRUE(error == RG_ERR_ARG || (rgt_rank && error == RG_SUCCESS));
  RGT_OK(rg_mutexes_free(&m));
  RGT_OK(rg_mutexes_create(world, rgt_size, &m));
  RGT_FAILS(rg_mutexes_lock(m, rgt_size), RG_ERR_ARG);
  RGT_FAILS(rg_mutexes_lock(m, -1), RG_ERR_ARG);
  RGT_FAILS(rg_mutexes_unlock(m, rgt_rank), RG_ERR_ARG);
  RGT_OK(rg_mutexes_lock(m, rgt_rank));
  RGT_FAILS(rg_mutexes_lock(m, rgt_rank), RG_ERR_ARG);
  RGT_OK(rg_mutexes_try(m, rgt_rank, &locked));
  RGT_INT(locked, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_size > 1) {
    int other = (rgt_rank + 1) % rgt_size;
    RGT_OK(rg_mutexes_try(m, other, &locked));
    RGT_INT(locked, 0);
    RGT_FAILS(rg_mutexes_unlock(m, other), RG_ERR_ARG);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_FAILS(rg_mutexes_free(&m), RG_ERR_ARG);
  RGT_TRUE(m != NULL);
  RGT_OK(rg_mutexes_unlock(m, rgt_rank));
  RGT_OK(rg_mutexes_try(m, rgt_rank, &locked));
  RGT_INT(locked, 1);
  RGT_OK(rg_mutexes_unlock(m, rgt_rank));
  RGT_OK(rg_mutexes_free(&m));
}

/* A word that all ranks share, whatever nodes they pretend to be on. */
static _Atomic int *shared_word(void) {
  char name[RGT_PATH];
  rgt_temporary(name);
  int fd = rgt_rank == 0 ? mkstemp(name) : -1;
  if (rgt_rank == 0)
    RGT_INT(ftruncate(fd, 64), 0);
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rgt_rank)
    fd = open(name, O_RDWR);
  void *word = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  RGT_TRUE(word != MAP_FAILED);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    unlink(name);
  return word;
}

static void put_under_mutex(rg_array a, rg_mutexes mutexes, int64_t at, _Atomic int *unlocked) {
  int64_t end = at + 1, value = 7;
  RGT_OK(rg_mutexes_lock(mutexes, 0));
  RGT_OK(rg_array_put(a, &at, &end, &value, NULL));
  RGT_OK(rg_mutexes_unlock(mutexes, 0));
  *unlocked = 1;
}

/* The owner makes no call for a while, and then calls that move operations on. */
static void await_unlock(const volatile int64_t *element, const _Atomic int *unlocked) {
  for (int i = 0; i < 300 && !*unlocked; i++)
    usleep(1000);
  while (!*unlocked)
    RGT_OK(rg_progress());
  RGT_INT(*element, 7);
}

/* A mutex of one node is unlocked when what was put on another node is there. */
void test_mutex_fence(void) {
  int64_t n = 8 * rgt_size, lo, hi, *element = NULL;
  rg_array a = zeros(RG_TYPE_INT64, 1, &n);
  rg_group own;
  rg_mutexes m;
  _Atomic int *unlocked = shared_word();
  RGT_OK(rg_group_create(world, 1, &rgt_rank, 70 + rgt_rank, &own));
  RGT_OK(rg_mutexes_create(own, 1, &m));
  RGT_OK(rg_array_distribution(a, rgt_rank, &lo, &hi));
  lo = hi - 1;
  RGT_OK(rg_array_access(a, &lo, &hi, RG_ACCESS_READ, (void **)&element, NULL));
  if (rgt_rank == 0)
    put_under_mutex(a, m, n - 1, unlocked);
  if (rgt_rank == rgt_size - 1)
    await_unlock(element, unlocked);
  RGT_OK(rg_array_release(a, &lo, &hi));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_mutexes_free(&m));
  RGT_OK(rg_group_free(&own));
  RGT_OK(rg_array_free(&a));
  munmap((void *)(uintptr_t)unlocked, 64);
}
