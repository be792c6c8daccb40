/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2
 * env: RG_COLL=bcast=binomial,reduce=ring
 * sources: tests/collectives/cases.c
 * An RG_COLL that is not understood: every collective returns the error, and none hangs. */
#include <string.h>

#include "cases.h"

static void test_wrong(void) {
  rg_group world;
  int x = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < 2; i++) {
    RGT_FAILS(rg_barrier(world), RG_ERR_OPTION);
    RGT_TRUE(strstr(rg_error_detail(), "ring") != NULL);
  }
  RGT_FAILS(rg_bcast(world, &x, 1, MPI_INT, 0), RG_ERR_OPTION);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"wrong RG_COLL", test_wrong}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_wrong_option", tests);
}
