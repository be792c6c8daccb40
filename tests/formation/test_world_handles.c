/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * Two handles of the world, as a program and a library that it uses have: operations on both, in
 * any order, do not disturb one another. */
#include <mpi.h>
#include <regroup.h>

#include "check.h"

static rg_group one, two;

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&one));
  RGT_OK(rg_group_world(&two));
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&one));
  RGT_OK(rg_group_free(&two));
  RGT_OK(rg_finalize());
}

static void expect_sum(rg_group g, int64_t factor) {
  int64_t sum = factor * (rgt_rank + 1);
  RGT_OK(rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM));
  RGT_INT(sum, factor * rgt_size * (rgt_size + 1) / 2);
}

static void test_blocking(void) {
  for (int turn = 0; turn < 200; turn++) {
    expect_sum(turn % 3 ? one : two, turn);
    RGT_OK(rg_barrier(turn % 5 ? one : two));
  }
}

/* A third one that is freed while the others go on. */
static void test_short_lived(void) {
  for (int turn = 0; turn < 20; turn++) {
    rg_group three = NULL;
    RGT_OK(rg_group_world(&three));
    for (int i = 0; i < 3; i++)
      expect_sum(three, i);
    RGT_OK(rg_group_free(&three));
    expect_sum(one, 7);
  }
}

static void test_requests(void) {
  enum { N = 4 };
  int64_t sums[N];
  rg_request r[N];
  for (int turn = 0; turn < 20; turn++) {
    for (int i = 0; i < N; i++) {
      sums[i] = (i + 1) * (rgt_rank + 1);
      RGT_OK(
          rg_iallreduce(i % 2 ? one : two, MPI_IN_PLACE, &sums[i], 1, MPI_INT64_T, MPI_SUM, &r[i]));
    }
    RGT_OK(rg_wait_all(N, r, NULL));
    for (int i = 0; i < N; i++)
      RGT_INT(sums[i], (i + 1) * rgt_size * (rgt_size + 1) / 2);
  }
}

/* Each has its own elements. */
static void test_arrays(void) {
  rg_array a = NULL, b = NULL;
  int64_t n = rgt_size, lo = rgt_rank, hi = lo + 1, value = 10 + lo, other = 20 + lo, got = 0;
  RGT_OK(rg_array_create_simple(one, RG_TYPE_INT64, 1, &n, &a));
  RGT_OK(rg_array_create_simple(two, RG_TYPE_INT64, 1, &n, &b));
  RGT_OK(rg_array_put(a, &lo, &hi, &value, NULL));
  RGT_OK(rg_array_put(b, &lo, &hi, &other, NULL));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_sync(b));
  lo = (lo + 1) % n;
  hi = lo + 1;
  RGT_OK(rg_array_get(a, &lo, &hi, &got, NULL));
  RGT_INT(got, 10 + lo);
  RGT_OK(rg_array_get(b, &lo, &hi, &got, NULL));
  RGT_INT(got, 20 + lo);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&b));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"blocking", test_blocking},
                                   {"short-lived", test_short_lived},
                                   {"requests", test_requests},
                                   {"arrays", test_arrays},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "world_handles", tests);
}
