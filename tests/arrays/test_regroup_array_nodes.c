/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * time: 120
 * sources: tests/arrays/regroup_cases.c
 * Arrays that follow their group, over two pretended nodes. */
#include <regroup.h>
#include <regroup/array.h>
#include <regroup/p2p.h>
#include <stddef.h>

#include "regroup_cases.h"
#include "tests/check/check.h"

/* Rank 0 waits for rank 2 of its node, which waits for rank 1 of the other one, which reads what
 * rank 0 has. */
static void test_awaited(void) {
  rg_group world, pair;
  rg_array all = NULL, two = NULL;
  int64_t n = 1000 * (int64_t)rgt_size, zero = 0, end = 1000;
  static int64_t got[1000];
  int ranks[] = {0, 2}, word = 1;
  if (rgt_size < 3)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=20"));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &all));
  RGT_OK(rg_array_sync(all));
  RGT_OK(rg_group_create(world, 2, ranks, 1, &pair));
  if (rgt_rank == 1) {
    RGT_OK(rg_array_get(all, &zero, &end, got, NULL));
    RGT_OK(rg_send(world, &word, 1, MPI_INT, 2, 1));
  }
  if (rgt_rank == 2)
    RGT_OK(rg_recv(world, &word, 1, MPI_INT, 1, 1, NULL));
  if (pair) {
    RGT_OK(rg_array_create_simple(pair, RG_TYPE_INT64, 1, &n, &two));
    RGT_OK(rg_array_sync(two));
    RGT_OK(rg_array_free(&two));
  }
  RGT_OK(rg_array_sync(all));
  RGT_OK(rg_array_free(&all));
  rg_group_free(&pair);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      REGROUP, {"a target that waits for a new array", test_awaited}, {NULL, NULL}};
  rounds = 15;
  return rgt_main(argc, argv, "regroup_array_nodes", tests);
}
