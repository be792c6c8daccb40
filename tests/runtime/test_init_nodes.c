/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * rg_init where one of two pretended nodes has no shared memory: the processes of both nodes return
 * the error, and can start the library later. */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/check/reported.h"

/* The process that makes the memory of the last node. */
static int find_maker(void) {
  MPI_Comm node;
  int me, mine, maker;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rgt_rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_free(&node);
  mine = me == 0 ? rgt_rank : 0;
  MPI_Allreduce(&mine, &maker, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return maker;
}

static void test_no_memory(void) {
  struct rlimit before, none;
  int maker = find_maker();
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 4096;
  if (rgt_rank == maker)
    setrlimit(RLIMIT_FSIZE, &none);
  int error = rg_init(MPI_COMM_WORLD, NULL);
  setrlimit(RLIMIT_FSIZE, &before);
  RGT_TRUE(error != RG_SUCCESS);
  expect_reported(error, error, rgt_rank, maker, "");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"no memory", test_no_memory}, {NULL, NULL}};
  return rgt_main(argc, argv, "init_nodes", tests);
}
