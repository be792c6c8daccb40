/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2
 * env: RG_TIMEOUT=0.5
 * The decision about a call that a member has given up comes while it waits in its next call, which
 * is given up, too. */
#include "comm_cases.h"
#include "tests/check/world.h"

static void split(int expected) {
  rg_group part = NULL;
  RGT_INT(rg_group_split(world, 0, 0, &part), expected);
  RGT_TRUE((part != NULL) == (expected == RG_SUCCESS));
  rg_group_free(&part);
}

static void test_late(void) {
  if (rgt_rank == 1)
    split(RG_ERR_TIMEOUT);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    split(RG_SUCCESS); /* the other one has reported */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 1)
    split(RG_ERR_TIMEOUT);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_begin}, {"late decision", test_late}, {"stop", test_end}, {NULL, NULL}};
  return rgt_main(argc, argv, "late_decision", tests);
}
