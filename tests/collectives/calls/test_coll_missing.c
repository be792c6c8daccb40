/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 7
 * sources: tests/collectives/cases.c
 * A member of a node that does not call: the errors of the others name it, and a group formed
 * anew works. */
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "tests/collectives/cases.h"

/* One that is late itself may be named, where processors are few. */
static void expect_named(int error) {
  int rank = -1;
  const char *text = strstr(rg_error_detail(), "rank ");
  if (error == RG_ERR_MISMATCH) /* another member returned with an error before */
    return;
  RGT_INT(error, RG_ERR_TIMEOUT);
  RGT_PTR_NOT_NULL(text);
  RGT_TRUE(text && sscanf(text, "rank %d", &rank) == 1 && rank >= 0 && rank < rgt_size &&
           rank != rgt_rank);
}

static void expect_work(void) {
  rg_group g = NULL;
  int one = 1, sum = 0;
  RGT_OK(rgi_options_load("timeout=60"));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_dup(groups[WORLD], &g));
  RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&g));
}

static void test_missing(void) {
  int missing = rgt_size - 1, x = 1, all[RANKS_MOST];
  for (int call = 0; call < 3; call++) {
    rg_group g = NULL;
    RGT_OK(rg_group_dup(groups[WORLD], &g));
    RGT_OK(rgi_options_load("timeout=0.3"));
    if (rgt_rank != missing && call == 0)
      expect_named(rg_barrier(g));
    if (rgt_rank != missing && call == 1)
      expect_named(rg_bcast(g, &x, 1, MPI_INT, missing));
    if (rgt_rank == 0 && call == 2)
      expect_named(rg_gather(g, &x, 1, MPI_INT, all, 1, MPI_INT, 0));
    expect_work();
    RGT_OK(rg_group_free(&g));
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", start_groups}, {"missing", test_missing}, {"stop", stop_groups}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_missing", tests);
}
