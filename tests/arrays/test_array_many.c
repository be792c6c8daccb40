/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 4
 * A hundred thousand arrays alive at once, and what they take. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/check/arena.h"
#include "tests/check/check.h"

enum { ARRAYS = 100000 };

/* Each holds an integer for each member, which another member changes. */
static void test_many(void) {
  rg_group world;
  rg_array *a = calloc(ARRAYS, sizeof *a);
  int64_t n = rgt_size, mine = rgt_rank, end = mine + 1, value;
  int wrong = 0, failed = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  size_t before = rgt_arena_used();
  for (int i = 0; i < ARRAYS; i++) {
    failed += rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &a[i]) != RG_SUCCESS;
    failed += rg_array_put(a[i], &mine, &end, &(int64_t){i + mine}, NULL) != RG_SUCCESS;
  }
  RGT_INT(failed, 0);
  size_t each = (rgt_arena_used() - before) / ARRAYS;
  RGT_TRUE(each <= 128 + 64 + 128 * (size_t)rgt_size + 64);
  if (rgt_rank == 0 && getenv("RGT_TELL"))
    fprintf(stderr, "%zu bytes of the arena for each array of %d members\n", each, rgt_size);
  for (int i = 0; i < ARRAYS; i++) {
    int64_t other = (mine + i) % n, other_end = other + 1;
    failed += rg_array_get(a[i], &other, &other_end, &value, NULL) != RG_SUCCESS;
    wrong += value != i + other;
  }
  RGT_INT(failed, 0);
  RGT_INT(wrong, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < ARRAYS; i++)
    failed += rg_array_free(&a[i]) != RG_SUCCESS;
  RGT_INT(failed, 0);
  RGT_TRUE(rgt_arena_used() == before);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  free(a);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"many", test_many}, {NULL, NULL}};
  return rgt_main(argc, argv, "array_many", tests);
}
