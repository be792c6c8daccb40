/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * ranks: 1 2 3 4 7 16
 * rg_comm_create_group: every method has the same meaning. */
#include "comm_cases.h"

static const rg_comm_method methods[] = {RG_METHOD_AUTO, RG_METHOD_RECURSIVE, RG_METHOD_NATIVE};
#define METHODS 3

static void check_one(int n, const int ranks[], int tag, rg_comm_method method) {
  MPI_Group group = group_of(n, ranks);
  MPI_Comm comm = MPI_COMM_SELF;
  int before, after;
  rg_comm_count(&before);
  RGT_OK(rg_comm_create_group(MPI_COMM_WORLD, group, tag, method, &comm));
  if (place_of(n, ranks, rgt_rank) < 0) {
    RGT_TRUE(comm == MPI_COMM_NULL);
  } else {
    expect_comm(comm, n, ranks);
    rg_comm_count(&after);
    RGT_INT(after, before + 1);
    MPI_Comm_free(&comm);
  }
  rg_comm_count(&after);
  RGT_INT(after, before);
  MPI_Group_free(&group);
}

static void test_whole_world(void) {
  int ranks[RANKS_MOST];
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = rgt_size - 1 - i;
  for (int m = 0; m < METHODS; m++)
    check_one(rgt_size, ranks, 5, methods[m]);
}

static void test_random_groups(void) {
  int ranks[RANKS_MOST];
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 20; turn++) {
    int n = draw_ranks(ranks);
    for (int m = 0; m < METHODS; m++)
      check_one(n, ranks, turn, methods[m]);
  }
}

/* Only the members take part: the other ranks are in a receive until the members are done. */
static void test_members_only(void) {
  int ranks[RANKS_MOST], n = 0;
  for (int i = 0; i < rgt_size; i += 2)
    ranks[n++] = i;
  for (int m = 0; m < METHODS; m++) {
    if (rgt_rank % 2)
      MPI_Recv(NULL, 0, MPI_BYTE, rgt_rank - 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      check_one(n, ranks, 3, methods[m]);
    if (rgt_rank % 2 == 0 && rgt_rank + 1 < rgt_size)
      MPI_Send(NULL, 0, MPI_BYTE, rgt_rank + 1, 99, MPI_COMM_WORLD);
  }
}

/* Even and odd ranks at the same time, with the same tag. */
static void test_disjoint_same_tag(void) {
  int ranks[RANKS_MOST], n = 0;
  for (int i = rgt_rank % 2; i < rgt_size; i += 2)
    ranks[n++] = i;
  for (int m = 0; m < METHODS; m++)
    check_one(n, ranks, 0, methods[m]);
}

/* A chain of overlapping pairs, in one order everywhere. */
static void test_overlapping(void) {
  for (int m = 0; m < METHODS; m++)
    for (int i = 0; i + 1 < rgt_size; i++)
      if (rgt_rank == i || rgt_rank == i + 1)
        check_one(2, (int[]){i + 1, i}, i, methods[m]);
}

static void test_not_a_member(void) {
  MPI_Group group = group_of(1, (int[]){0});
  for (int m = 0; m < METHODS && rgt_rank > 0; m++) {
    MPI_Comm comm = MPI_COMM_SELF;
    RGT_OK(rg_comm_create_group(MPI_COMM_WORLD, group, 1, methods[m], &comm));
    RGT_TRUE(comm == MPI_COMM_NULL);
  }
  MPI_Group_free(&group);
  MPI_Comm comm = MPI_COMM_SELF;
  RGT_OK(rg_comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 1, RG_METHOD_AUTO, &comm));
  RGT_TRUE(comm == MPI_COMM_NULL);
}

static void test_error_handler(void) {
  MPI_Comm parent, comm;
  MPI_Group group;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_group(parent, &group);
  for (int m = 0; m < METHODS; m++)
    for (int returns = 0; returns < 2; returns++) {
      MPI_Errhandler want = returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
      MPI_Comm_set_errhandler(parent, want);
      RGT_OK(rg_comm_create_group(parent, group, 1, methods[m], &comm));
      MPI_Comm_get_errhandler(comm, &handler);
      RGT_TRUE(handler == want);
      MPI_Errhandler_free(&handler);
      MPI_Comm_get_errhandler(parent, &handler);
      RGT_TRUE(handler == want);
      MPI_Errhandler_free(&handler);
      MPI_Comm_free(&comm);
    }
  MPI_Group_free(&group);
  MPI_Comm_free(&parent);
}

static void test_method_names(void) {
  RGT_STR(rg_comm_method_name(RG_METHOD_AUTO), "auto");
  RGT_STR(rg_comm_method_name(RG_METHOD_RECURSIVE), "recursive");
  RGT_STR(rg_comm_method_name(RG_METHOD_NATIVE), "native");
  RGT_PTR_NULL(rg_comm_method_name((rg_comm_method)3));
}

/* The library's messages do not meet the program's receives on the communicator. */
static void expect_receive_open(int first_method) {
  int got = -1;
  MPI_Group all;
  MPI_Request request;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = first_method; i < METHODS; i++) {
    MPI_Comm made;
    int sum = 0;
    if (RGT_OK(rg_comm_create_group(MPI_COMM_WORLD, all, 0, methods[i], &made))) {
      MPI_Allreduce(&rgt_rank, &sum, 1, MPI_INT, MPI_SUM, made);
      RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
      MPI_Comm_free(&made);
    }
  }
  MPI_Send(&rgt_rank, 1, MPI_INT, (rgt_rank + 1) % rgt_size, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  RGT_INT(got, (rgt_rank + rgt_size - 1) % rgt_size);
  MPI_Group_free(&all);
}

/* Before the library has started, by the native method: the recursive one sends messages on the
 * communicator with MPI_THREAD_MULTIPLE, which this program has. While it runs, by both. */
static void test_open_receive(void) {
  expect_receive_open(METHODS - 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  expect_receive_open(0);
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"whole world", test_whole_world},
                                   {"random groups", test_random_groups},
                                   {"members only", test_members_only},
                                   {"disjoint groups, same tag", test_disjoint_same_tag},
                                   {"overlapping groups", test_overlapping},
                                   {"not a member", test_not_a_member},
                                   {"error handler", test_error_handler},
                                   {"method names", test_method_names},
                                   {"open receive", test_open_receive},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "comm_create_group", tests);
}
