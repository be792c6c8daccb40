/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * env: RG_TIMEOUT=60
 * sources: tests/collectives/cases.c
 * Collectives on plain communicators. */
#include "tests/collectives/cases.h"

static void expect_sum(MPI_Comm comm) {
  rg_group g = NULL, again = NULL;
  int size, rank, members, sum = -1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  if (!RGT_OK(rg_comm_group(comm, &g)))
    return;
  RGT_OK(rg_group_size(g, &members));
  RGT_INT(members, size);
  RGT_OK(rg_allreduce(g, &rank, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, size * (size - 1) / 2);
  RGT_OK(rg_comm_group(comm, &again));
  RGT_TRUE(again == g);
}

static void test_plain(void) {
  MPI_Comm half, copy;
  rg_group g, other;
  expect_sum(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rgt_rank % 2, -rgt_rank, &half);
  expect_sum(half);
  MPI_Comm_dup(half, &copy); /* has a group of its own */
  expect_sum(copy);
  RGT_OK(rg_comm_group(half, &g));
  RGT_OK(rg_comm_group(copy, &other));
  RGT_TRUE(g != other);
  MPI_Comm_free(&half);
  expect_sum(copy);
  MPI_Comm_free(&copy);
}

/* The groups are freed with their communicators. */
static void test_many(void) {
  for (int i = 0; i < 100; i++) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    expect_sum(copy);
    MPI_Comm_free(&copy);
  }
}

static void test_inter(void) {
  MPI_Comm half, inter;
  rg_group g = NULL;
  if (rgt_size < 2)
    return;
  MPI_Comm_split(MPI_COMM_WORLD, rgt_rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rgt_rank % 2), 1, &inter);
  RGT_FAILS(rg_comm_group(inter, &g), RG_ERR_COMM);
  RGT_PTR_NULL(g);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* Only a part of the processes has called rg_init. */
static void test_outside(void) {
  MPI_Comm part;
  rg_group g = NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rgt_rank == 0, 0, &part);
  RGT_OK(rg_finalize());
  RGT_OK(rg_init(part, NULL));
  if (rgt_size > 1)
    RGT_FAILS(rg_comm_group(MPI_COMM_WORLD, &g), RG_ERR_GROUP);
  RGT_PTR_NULL(g);
  expect_sum(part);
  RGT_OK(rg_finalize());
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  expect_sum(part); /* the group of the earlier start is replaced */
  MPI_Comm_free(&part);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
}

static void test_stop(void) {
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"plain communicators", test_plain},
                                   {"many", test_many},
                                   {"inter-communicators", test_inter},
                                   {"processes outside", test_outside},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_comm", tests);
}
