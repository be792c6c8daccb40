/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2
 * ranks: 2 3 4
 * sources: tests/collectives/cases.c
 * A member that calls later than RG_TIMEOUT: the others get an error, and the operations after
 * that work. By messages. */
#include "base/options.h"
#include "tests/collectives/cases.h"

static void be_patient(int patient) {
  RGT_OK(rgi_options_load(patient ? "timeout=60" : "timeout=0.3"));
}

/* Rank 0 calls when all others have returned. */
static void come_late(void) {
  for (int i = 1; i < rgt_size && rgt_rank == 0; i++)
    MPI_Recv(NULL, 0, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void have_gone(void) {
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  be_patient(1);
}

static void expect_work(rg_group g) {
  int one = 1, sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
}

static void test_late(void) {
  rg_group g = groups[WORLD];
  rg_request request = NULL;
  RGT_OK(rg_group_set_algorithm(g, RG_OP_BARRIER, "linear"));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_ALLREDUCE, "butterfly"));
  be_patient(rgt_rank == 0);
  come_late();
  if (rgt_rank == 0) {
    RGT_OK(rg_barrier(g)); /* the others have called, though they have returned */
  } else {
    RGT_FAILS(rg_barrier(g), RG_ERR_TIMEOUT);
    have_gone();
  }
  expect_work(g);
  be_patient(rgt_rank == 0);
  come_late();
  RGT_OK(rg_ibarrier(g, &request));
  if (rgt_rank > 0) {
    RGT_FAILS(rg_wait(&request, NULL), RG_ERR_TIMEOUT);
    have_gone();
  }
  RGT_PTR_NOT_NULL(request); /* is still open */
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_wait(&request, NULL));
  expect_work(g);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", start_groups}, {"late", test_late}, {"stop", stop_groups}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_timeout", tests);
}
