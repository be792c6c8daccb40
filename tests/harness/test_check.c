/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The checks that hold; tests/harness/test_harness.py has those that do not. */
#include <mpi.h>
#include <regroup/error.h>
#include <regroup/runtime.h>
#include <stddef.h>

#include "check.h"

static void test_values(void) {
  RGT_TRUE(rgt_size >= 1);
  RGT_INT(1LL << 40, 1099511627776LL);
  RGT_DBL(0.1 + 0.2, 0.3, 1e-15);
  RGT_STR("regroup", "regroup");
  RGT_STR(NULL, NULL);
  RGT_PTR_NULL(NULL);
  RGT_PTR_NOT_NULL(&rgt_rank);
}

static void test_codes(void) {
  int flag;
  RGT_OK(rg_initialized(&flag));
  RGT_FAILS(rg_initialized(NULL), RG_ERR_ARG);
}

static void test_ranks(void) {
  int sum, least;
  unsigned long long seed = rgt_seed(), first = seed;
  MPI_Allreduce(&rgt_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
  MPI_Bcast(&first, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  RGT_INT(seed, first);
  MPI_Allreduce(&rgt_size, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  RGT_INT(least, rgt_size);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"values", test_values}, {"codes", test_codes}, {"ranks", test_ranks}, {NULL, NULL}};
  return rgt_main(argc, argv, "check", tests);
}
