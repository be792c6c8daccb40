/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * env: RG_TIMEOUT=60
 * sources: tests/collectives/cases.c
 * Wrong use of collectives is reported before anything is sent; lengths that do not agree are
 * reported at the end. */
#include <string.h>

#include "shm/node.h"
#include "tests/collectives/cases.h"

static rg_group g;
static rg_request request;

/* After an error on some ranks the group still works. */
static void expect_work(void) {
  int one = 1, sum = 0;
  RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
}

static void test_arguments(void) {
  int x = 0, y = 0;
  MPI_Count n[RANKS_MOST] = {0};
  MPI_Aint at[RANKS_MOST] = {0};
  g = groups[WORLD];
  RGT_FAILS(rg_barrier(NULL), RG_ERR_GROUP);
  RGT_FAILS(rg_ibarrier(g, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_bcast(g, &x, 1, MPI_INT, -1), RG_ERR_RANK);
  RGT_FAILS(rg_bcast(g, &x, 1, MPI_INT, rgt_size), RG_ERR_RANK);
  RGT_FAILS(rg_bcast(g, &x, -1, MPI_INT, 0), RG_ERR_ARG);
  RGT_FAILS(rg_bcast(g, NULL, 1, MPI_INT, 0), RG_ERR_ARG);
  RGT_FAILS(rg_bcast(g, MPI_IN_PLACE, 1, MPI_INT, 0), RG_ERR_ARG);
  RGT_FAILS(rg_bcast(g, &x, 1, MPI_DATATYPE_NULL, 0), RG_ERR_ARG);
  RGT_FAILS(rg_ibcast(g, &x, 1, MPI_INT, rgt_size, &request), RG_ERR_RANK);
  RGT_FAILS(rg_allreduce(g, &x, &y, 1, MPI_INT, MPI_OP_NULL), RG_ERR_ARG);
  RGT_FAILS(rg_allreduce(g, &x, &y, 1, MPI_INT, MPI_REPLACE), RG_ERR_ARG);
  RGT_FAILS(rg_allreduce(g, &x, NULL, 1, MPI_INT, MPI_SUM), RG_ERR_ARG);
  RGT_FAILS(rg_allreduce(g, &x, &y, 1, types[GAPS].type, MPI_SUM), RG_ERR_ARG);
  RGT_FAILS(rg_allreduce(g, &x, &y, 1, MPI_DOUBLE, MPI_BAND), RG_ERR_ARG);
  RGT_FAILS(rg_allreduce(g, &x, &y, 1, MPI_CHAR, MPI_MINLOC), RG_ERR_ARG);
  RGT_FAILS(rg_iallreduce(g, &x, &y, 1, MPI_PACKED, MPI_SUM, &request), RG_ERR_ARG);
  RGT_FAILS(rg_allreduce(g, &x, &y, 1, MPI_BYTE, MPI_SUM), RG_ERR_ARG);
  RGT_FAILS(rg_allgather(g, &x, 2, MPI_INT, &y, 1, MPI_INT), RG_ERR_TRUNCATE);
  RGT_FAILS(rg_alltoall(g, &x, 0, MPI_INT, &y, 1, MPI_INT), RG_ERR_MISMATCH);
  RGT_FAILS(rg_allgatherv(g, &x, 0, MPI_INT, &y, NULL, at, MPI_INT), RG_ERR_ARG);
  RGT_FAILS(rg_allgatherv(g, &x, 0, MPI_INT, &y, n, NULL, MPI_INT), RG_ERR_ARG);
  RGT_FAILS(rg_reduce_scatter(g, &x, &y, NULL, MPI_INT, MPI_SUM), RG_ERR_ARG);
  RGT_FAILS(rg_bcast(g, &x, (MPI_Count)1 << 62, MPI_INT, 0), RG_ERR_ARG);
  if (rgt_rank != 0)
    RGT_FAILS(rg_gather(g, MPI_IN_PLACE, 1, MPI_INT, &y, 1, MPI_INT, 0), RG_ERR_ARG);
  RGT_PTR_NULL(request);
  expect_work();
}

/* After one rank's mistake the others wait until it makes the right call. */
static void test_one_rank(void) {
  int x = rgt_rank;
  for (int turn = 0; turn < 3; turn++) {
    if (rgt_rank == rgt_size - 1)
      RGT_FAILS(rg_bcast(g, &x, -5, MPI_INT, 0), RG_ERR_ARG);
    RGT_OK(rg_bcast(g, &x, 1, MPI_INT, 0));
    RGT_INT(x, 0);
  }
}

static void test_no_member(void) {
  rg_group one = NULL, other = NULL, difference = NULL;
  int first = 0;
  if (rgt_size < 2)
    return;
  RGT_OK(rg_group_create(groups[WORLD], 1, &first, 3, &one));
  if (rgt_rank == 0)
    RGT_OK(rg_group_difference(groups[WORLD], one, &difference));
  if (difference)
    RGT_FAILS(rg_barrier(difference), RG_ERR_GROUP);
  rg_group_free(&one);
  rg_group_free(&other);
  rg_group_free(&difference);
}

/* The receiver gets the error, and no member hangs. By messages: linear. */
static void test_lengths(void) {
  int data[8] = {0}, all[8 * RANKS_MOST];
  RGT_OK(rg_group_set_algorithm(g, RG_OP_BCAST, "linear"));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_GATHER, "linear"));
  if (rgt_rank == 0)
    RGT_OK(rg_bcast(g, data, 8, MPI_INT, 0));
  else
    RGT_FAILS(rg_bcast(g, data, 4, MPI_INT, 0), RG_ERR_TRUNCATE);
  expect_work();
  if (rgt_rank == 0)
    RGT_OK(rg_ibcast(g, data, 4, MPI_INT, 0, &request));
  else
    RGT_OK(rg_ibcast(g, data, 8, MPI_INT, 0, &request));
  if (rgt_rank == 0)
    RGT_OK(rg_wait(&request, NULL));
  else
    RGT_FAILS(rg_wait(&request, NULL), RG_ERR_MISMATCH);
  RGT_PTR_NULL(request);
  expect_work();
  if (rgt_rank == 0 && rgt_size > 1)
    RGT_FAILS(rg_gather(g, data, 4, MPI_INT, all, 4, MPI_INT, 0), RG_ERR_TRUNCATE);
  else
    RGT_OK(rg_gather(g, data, rgt_rank ? 8 : 4, MPI_INT, all, 4, MPI_INT, 0));
  expect_work();
  RGT_OK(rg_group_set_algorithm(g, RG_OP_BCAST, NULL));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_GATHER, NULL));
}

/* The text of an error that is found before the operation ends, although another call has failed
 * meanwhile: the last member comes when the root has looked at the others' blocks. */
static void test_text(void) {
  int data[4] = {0}, all[8 * RANKS_MOST], done = 0, last = rgt_size - 1, unused;
  if (rgt_size < 3)
    return;
  RGT_OK(rg_group_set_algorithm(g, RG_OP_GATHER, "linear"));
  if (rgt_rank == last)
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  RGT_OK(rg_igather(g, data, rgt_rank == 1 ? 4 : 2, MPI_INT, all, 2, MPI_INT, 0, &request));
  if (rgt_rank != 0)
    RGT_OK(rg_wait(&request, NULL));
  if (rgt_rank == 1)
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rgt_rank == 0) {
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
      RGT_OK(rg_test(&request, &done, NULL));
    RGT_INT(done, 0);
    RGT_FAILS(rg_group_rank(NULL, &unused), RG_ERR_GROUP);
    MPI_Send(NULL, 0, MPI_INT, last, 0, MPI_COMM_WORLD);
    RGT_FAILS(rg_wait(&request, NULL), RG_ERR_TRUNCATE);
    RGT_TRUE(strstr(rg_error_detail(), "rank 1 of the group sent 16 bytes") != NULL);
  }
  RGT_OK(rg_group_set_algorithm(g, RG_OP_GATHER, NULL));
  expect_work();
}

/* Sizes whose product overflows: nothing is read. */
static void test_sums(void) {
  double x = 1, sum = 7;
  float f = 1, single = 7;
  RGT_FAILS(rg_sum_reproducible(g, &x, INT64_MAX, &sum), RG_ERR_ARG);
  RGT_FAILS(rg_sum_reproducible_float(g, &f, INT64_MAX, &single), RG_ERR_ARG);
  RGT_FAILS(rg_sums_reproducible(g, &x, INT64_C(1) << 40, INT64_C(1) << 40, &sum), RG_ERR_ARG);
  RGT_OK(rg_sums_reproducible(g, &x, INT64_MAX, 0, &sum));
  RGT_TRUE(sum == 7 && single == 7);
}

/* In shared memory: each member that reads data gets the error; the group is formed anew. */
static int differ(rg_group h, int what, int n, int *data, int *all) {
  switch (what) {
  case 0:
    return rg_bcast(h, data, n, MPI_INT, 0);
  case 1:
    return rg_gather(h, data, n, MPI_INT, all, n, MPI_INT, 0);
  case 2:
    return rg_scatter(h, all, n, MPI_INT, data, n, MPI_INT, 0);
  case 3:
    return rg_allgather(h, data, n, MPI_INT, all, n, MPI_INT);
  case 4:
    return rg_alltoall(h, all, n, MPI_INT, all + n * rgt_size, n, MPI_INT);
  case 5:
    return rg_reduce(h, data, all, n, MPI_INT, MPI_SUM, 0);
  case 6:
    return rg_allreduce(h, data, all, n, MPI_INT, MPI_SUM);
  default:
    return rg_scan(h, data, all, n, MPI_INT, MPI_SUM);
  }
}

static void test_lengths_inside(void) {
  enum { MOST = 20000 };
  static const int lengths[][2] = {{10, 5},   {5, 10},   {5, 100},    {100, 5},   {1000, 999},
                                   {7, MOST}, {MOST, 7}, {100, MOST}, {MOST, 100}};
  static int data[MOST], all[2 * MOST * RANKS_MOST];
  for (int what = 0; what < 8 && rgi_node.count == 1 && rgt_size > 1; what++)
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      rg_group h = NULL;
      RGT_OK(rg_group_dup(groups[WORLD], &h));
      int takes = what == 1 || what == 5 ? rgt_rank == 0 : (what > 2 && what < 7) || rgt_rank > 0;
      int error = differ(h, what, lengths[i][rgt_rank > 0], data, all);
      RGT_TRUE(error == RG_ERR_TRUNCATE || error == RG_ERR_MISMATCH || (!takes && !error));
      MPI_Barrier(MPI_COMM_WORLD);
      RGT_FAILS(rg_barrier(h), RG_ERR_MISMATCH);
      MPI_Barrier(MPI_COMM_WORLD);
      RGT_OK(rg_group_free(&h));
      RGT_OK(rg_group_dup(groups[WORLD], &h));
      RGT_OK(rg_barrier(h));
      RGT_OK(rg_group_free(&h));
    }
}

static void test_requests(void) {
  rg_request none = NULL;
  int done = 7;
  RGT_FAILS(rg_wait(NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test(NULL, &done, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test(&none, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_all(-1, &none, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_all(1, NULL, NULL), RG_ERR_ARG);
  RGT_OK(rg_wait_all(0, NULL, NULL));
  RGT_OK(rg_wait(&none, NULL));
  RGT_INT(done, 7);
}

static void test_names(void) {
  const char *name = NULL;
  int count = -1;
  double seconds;
  RGT_FAILS(rg_group_set_algorithm(g, RG_OP_BCAST, "bogus"), RG_ERR_OPTION);
  RGT_FAILS(rg_group_set_algorithm(g, RG_OP_BCAST, "linear:linear"), RG_ERR_OPTION);
  RGT_FAILS(rg_group_set_algorithm(g, RG_OP_BCAST, "hierarchical:shared"), RG_ERR_OPTION);
  RGT_FAILS(rg_group_set_algorithm(g, RG_OP_BCAST, "hierarchical:linear:linear:linear"),
            RG_ERR_OPTION);
  RGT_FAILS(rg_group_set_algorithm(g, RG_OP_BCAST, ""), RG_ERR_OPTION);
  RGT_FAILS(rg_group_set_algorithm(g, RG_OP_COUNT, "linear"), RG_ERR_ARG);
  RGT_FAILS(rg_group_set_algorithm(NULL, RG_OP_BCAST, "linear"), RG_ERR_GROUP);
  RGT_PTR_NULL(rg_operation_name((rg_operation)-1));
  RGT_PTR_NULL(rg_operation_name(RG_OP_COUNT));
  RGT_FAILS(rg_algorithm_count(RG_OP_COUNT, &count), RG_ERR_ARG);
  RGT_FAILS(rg_algorithm_get(RG_OP_BCAST, 99, &name, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_algorithm_predict(RG_OP_BCAST, 0, 2, 3, 1, &seconds), RG_ERR_ARG);
  RGT_FAILS(rg_group_algorithm(g, RG_OP_BCAST, -1, &name), RG_ERR_ARG);
  RGT_PTR_NULL(name);
  RGT_INT(count, -1);
}

static void test_comm(void) {
  rg_group none = NULL;
  RGT_FAILS(rg_comm_group(MPI_COMM_NULL, &none), RG_ERR_COMM);
  RGT_FAILS(rg_comm_group(MPI_COMM_WORLD, NULL), RG_ERR_ARG);
  RGT_PTR_NULL(none);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start_groups},
                                   {"arguments", test_arguments},
                                   {"one rank's mistake", test_one_rank},
                                   {"no member", test_no_member},
                                   {"lengths that differ", test_lengths},
                                   {"the text of an error", test_text},
                                   {"sums of too many", test_sums},
                                   {"lengths that differ inside a node", test_lengths_inside},
                                   {"requests", test_requests},
                                   {"names of algorithms", test_names},
                                   {"communicators", test_comm},
                                   {"stop", stop_groups},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_errors", tests);
}
