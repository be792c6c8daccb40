/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 8
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * sources: tests/topology/shapes.c tests/topology/oracle.c
 * Hardware levels where the job spans several nodes: MPICH pretends two, the even
 * and the odd ranks. */
#include <mpi.h>
#include <stdlib.h>

#include "shapes.h"
#include "tests/check/check.h"

static void on_shapes(int step, int filter) {
  for (int i = 0; i < shape_count; i += step) {
    oracle o;
    MPI_Comm comm;
    shape_begin(&shapes[i], &o);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_descent(&o, comm, filter);
    expect_hierarchy(&o, comm, filter);
    expect_lowest(&o, comm);
    MPI_Comm_free(&comm);
    shape_end(&o);
  }
}

static void test_all_levels(void) {
  srandom((unsigned)rgt_seed());
  on_shapes(1, RG_LEVEL_ALL);
}

static void test_filters(void) {
  for (int filter = 1; filter < RG_LEVEL_ALL; filter++)
    on_shapes(3, filter);
}

static void test_by_hand(void) {
  MPI_Comm comm, level[RG_LEVELS_MOST];
  int number, index, n = 0;
  const char *type;
  oracle o;
  shape_begin(&(shape){"pack:1 core:8 pu:1", "compact"}, &o);
  int two = rgt_size > 1 && o.node[1] != o.node[0]; /* an MPI without such nodes has one */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  RGT_OK(rg_comm_hierarchy(comm, RG_LEVEL_ALL, RG_LEVELS_MOST, level, NULL, &n));
  if (two) {
    RGT_INT(n, 1 + (rgt_size > 3 || (rgt_size == 3 && rgt_rank != 1)));
    RGT_OK(rg_comm_hlevel_info(level[0], &number, &index, &type));
    RGT_INT(number, 2);
    RGT_INT(index, rgt_rank % 2);
    RGT_STR(type, "Machine");
    RGT_OK(rg_comm_min_hlevel(comm, 2, (int[]){0, 1}, &type));
    RGT_STR(type, rgt_rank < 2 ? "Cluster" : "Unknown");
  }
  for (int i = 0; i < n; i++)
    MPI_Comm_free(&level[i]);
  MPI_Comm_free(&comm);
  shape_end(&o);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"all levels", test_all_levels},
                                   {"filters", test_filters},
                                   {"by hand", test_by_hand},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "topology_nodes", tests);
}
