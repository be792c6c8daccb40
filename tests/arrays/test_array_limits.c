/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * Arrays that do not fit or are not possible: the same error on all members, and everything else
 * goes on. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/arena.h"
#include "tests/check/check.h"

static rg_group world;

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "arena_size=24,timeout=60"));
  RGT_OK(rg_group_world(&world));
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* The same code on all. */
static int agreed(int error) {
  int least, most;
  MPI_Allreduce(&error, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&error, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  RGT_INT(least, most);
  return error;
}

static void expect_works(rg_array a, int64_t at, int64_t value) {
  int64_t end = at + 1, got = -1;
  RGT_OK(rg_array_sync(a));
  if (rgt_rank == 0)
    RGT_OK(rg_array_put(a, &at, &end, &value, NULL));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_get(a, &at, &end, &got, NULL));
  RGT_INT(got, value);
}

static void test_overflow(void) {
  rg_array a = NULL;
  int64_t half = (int64_t)1 << 62, large = (int64_t)1 << 40, shape[2] = {half, 4};
  size_t before = rgt_arena_used();
  RGT_FAILS(rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, shape, &a), RG_ERR_LIMIT);
  shape[0] = INT64_MAX;
  RGT_FAILS(rg_array_create_simple(world, RG_TYPE_OPAQUE, 1, shape, &a), RG_ERR_ARG);
  RGT_FAILS(rg_array_create_simple(world, RG_TYPE_INT32, 1, shape, &a), RG_ERR_LIMIT);
  RGT_INT(agreed(rg_array_create_simple(world, RG_TYPE_INT64, 1, &large, &a)), RG_ERR_NOMEM);
  RGT_TRUE(strstr(rg_error_detail(), "RG_ARENA_SIZE") != NULL);
  RGT_PTR_NULL(a);
  RGT_INT(rgt_arena_used() - before, 0);
}

/* Arrays of ever smaller sizes until nothing fits any more. */
static void test_full(void) {
  enum { MOST = 20000 };
  static rg_array a[MOST];
  int n = 0, errors = 0;
  size_t before = rgt_arena_used();
  for (int64_t elements = 400000; elements > 0; elements /= 10)
    for (int error = RG_SUCCESS; !error && n < MOST; n += !error) {
      error = agreed(rg_array_create_simple(world, RG_TYPE_INT64, 1, &elements, &a[n]));
      RGT_TRUE(error == RG_SUCCESS || error == RG_ERR_NOMEM);
      errors += error != RG_SUCCESS;
    }
  RGT_TRUE(errors >= 3);
  for (int i = 0; i < n; i += n / 10 + 1)
    expect_works(a[i], 0, i);
  expect_works(a[0], 399999, 7);
  RGT_OK(rg_barrier(world));
  for (int i = 0; i < n; i++)
    RGT_OK(rg_array_free(&a[i]));
  RGT_TRUE(rgt_arena_used() >= before);
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, (int64_t[]){400000}, &a[0]));
  expect_works(a[0], 399999, 8);
  RGT_OK(rg_array_free(&a[0]));
}

/* Many members at once take the last memory that there is: none waits for ever, all agree. */
static void test_race(void) {
  for (int turn = 0; turn < 30; turn++) {
    rg_array a[8] = {NULL};
    for (int i = 0; i < 8; i++)
      agreed(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, (int64_t[]){500000}, &a[i]));
    for (int i = 0; i < 8; i++)
      RGT_OK(rg_array_free(&a[(i + rgt_rank) % 8]));
  }
}

/* A step longer than the array: its first element only. */
static void test_long_step(void) {
  int64_t n = 5 * rgt_size, zero = 0, most = INT64_MAX, from = 2, value = 7, all[5 * 64] = {0};
  rg_array a;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &a));
  if (rgt_rank == 0) {
    RGT_OK(rg_array_put(a, &zero, &n, all, NULL));
    RGT_OK(rg_array_put_strided(a, &from, &n, &most, &value, NULL));
    RGT_OK(rg_array_get(a, &zero, &n, all, NULL));
    for (int i = 0; i < n; i++)
      RGT_INT(all[i], i == 2 ? 7 : 0);
    RGT_FAILS(rg_array_put(a, &most, (int64_t[]){INT64_MIN}, &value, NULL), RG_ERR_ARG);
    RGT_FAILS(rg_array_put(a, &most, &most, &value, NULL), RG_ERR_BOUNDS);
  }
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* Lists of more elements than memory can hold are not read. */
static void test_elements(void) {
  int64_t n = 5 * rgt_size, at = 0, value = 0;
  rg_array a;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &a));
  RGT_FAILS(rg_array_gather(a, INT64_MAX, &at, &value), RG_ERR_LIMIT);
  RGT_FAILS(rg_array_scatter(a, INT64_MAX / 8 + 1, &at, &value), RG_ERR_LIMIT);
  RGT_FAILS(rg_array_scatter_acc(a, INT64_MAX / 2, &at, &value, NULL), RG_ERR_LIMIT);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* Extents whose product overflows, of an array that is empty all the same. */
static void test_empty(void) {
  int64_t zero[3] = {0};
  for (int d = 0; d < 3; d++) {
    int64_t shape[3] = {INT64_C(1) << 40, INT64_C(1) << 40, INT64_C(1) << 40};
    rg_array a;
    shape[d] = 0;
    RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 3, shape, &a));
    RGT_OK(rg_array_put(a, zero, shape, NULL, NULL));
    RGT_OK(rg_array_sync(a));
    RGT_OK(rg_array_free(&a));
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"overflow", test_overflow},   {"full", test_full},
      {"race", test_race},   {"long step", test_long_step}, {"elements", test_elements},
      {"empty", test_empty}, {"stop", test_stop},           {NULL, NULL}};
  return rgt_main(argc, argv, "array_limits", tests);
}
