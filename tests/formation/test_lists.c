/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 7
 * env: RG_TIMEOUT=2
 * Members that were given lists of different processes, or different tags, wait on different
 * groups: the error says so. */
#include <string.h>

#include "comm_cases.h"
#include "tests/check/world.h"

static void expect_both_named(rg_group g, const char *mine, const char *theirs) {
  RGT_FAILS(rg_barrier(g), RG_ERR_MISMATCH);
  RGT_PTR_NOT_NULL(strstr(rg_error_detail(), mine));
  RGT_PTR_NOT_NULL(strstr(rg_error_detail(), theirs));
}

static void test_sets(void) {
  const char *two = "0, 1", *three = "ranks 0-2";
  rg_group g;
  if (rgt_size < 3 || rgt_rank > 1)
    return;
  RGT_OK(rg_group_create_range(world, 0, rgt_rank == 0 ? 1 : 2, 1, 3, &g));
  if (rgt_rank == 0)
    expect_both_named(g, two, three);
  else
    expect_both_named(g, "0-2", "ranks 0, 1");
  rg_group_free(&g);
}

static void test_tags(void) {
  rg_group g;
  RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, rgt_rank == 0 ? 4 : 5, &g));
  if (rgt_rank < 2)
    expect_both_named(g, "same ranks", "tag");
  rg_group_free(&g);
}

/* Both groups have been used: only the text tells. */
static void test_order(void) {
  rg_group g, h;
  RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, 6, &g));
  RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, 7, &h));
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_barrier(h));
  if (rgt_rank < 2) {
    RGT_FAILS(rg_barrier(rgt_rank ? g : h), RG_ERR_TIMEOUT);
    RGT_PTR_NOT_NULL(strstr(rg_error_detail(), "another group of the same ranks"));
  }
  rg_group_free(&g);
  rg_group_free(&h);
}

/* The one waits for a third process in a group that has been used, the other one for it. */
static void test_slow(void) {
  int one = 1, sum = 0;
  rg_group used, fresh;
  if (rgt_size < 3 || rgt_rank > 2)
    return;
  RGT_OK(rg_group_create_range(world, 0, 2, 1, 8, &used));
  RGT_OK(rg_barrier(used));
  if (rgt_rank == 0) {
    RGT_OK(rg_group_create_range(world, 0, 1, 1, 9, &fresh));
    RGT_OK(rg_reduce(used, &one, &sum, 1, MPI_INT, MPI_SUM, 1));
    RGT_FAILS(rg_reduce(fresh, &one, &sum, 1, MPI_INT, MPI_SUM, 0), RG_ERR_TIMEOUT);
    RGT_PTR_NOT_NULL(strstr(rg_error_detail(), "ranks 0-2"));
    rg_group_free(&fresh);
  } else if (rgt_rank == 1)
    RGT_FAILS(rg_reduce(used, &one, &sum, 1, MPI_INT, MPI_SUM, 1), RG_ERR_TIMEOUT);
  rg_group_free(&used);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_begin},
                                   {"different processes", test_sets},
                                   {"different tags", test_tags},
                                   {"different order of calls", test_order},
                                   {"a third process", test_slow},
                                   {"stop", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "lists", tests);
}
