/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 1 2 3 4 7
 * Shrinking over two pretended nodes in a job that does not survive, in which no process has died:
 * a duplicate, also of a group that was revoked. */
#include <regroup.h>

#include "check.h"

static void check_copy(rg_group g) {
  rg_group copy;
  int how, sum = rgt_rank;
  RGT_OK(rg_group_shrink(g, &copy));
  RGT_OK(rg_group_compare(g, copy, &how));
  RGT_INT(how, RG_CONGRUENT);
  RGT_OK(rg_allreduce(copy, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
  RGT_OK(rg_group_free(&copy));
}

static void test_duplicate(void) {
  rg_group world, g;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int round = 0; round < 3; round++)
    check_copy(world);
  RGT_OK(rg_group_dup(world, &g));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_revoke(g));
  check_copy(g);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"duplicate", test_duplicate}, {NULL, NULL}};
  return rgt_main(argc, argv, "duplicate", tests);
}
