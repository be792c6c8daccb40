/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 4
 * tier: default
 * env: RG_STALL_REPORT=0
 * Wrong use of the creation calls is an error, and afterwards all works. */
#include "comm_cases.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "runtime/runtime.h"

static const rg_comm_method methods[] = {RG_METHOD_RECURSIVE, RG_METHOD_NATIVE};
#define METHODS 2

/* Only for calls that are to time out. */
static void set_limit(double seconds) {
  char text[32];
  snprintf(text, sizeof text, "timeout=%g", seconds);
  RGT_OK(rgi_options_load(text));
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  set_limit(60);
}

static void test_stop(void) {
  RGT_OK(rg_finalize());
}

/* All ranks can still make a communicator of the whole world. */
static void expect_all_works(int tag) {
  int ranks[RANKS_MOST];
  MPI_Comm comm;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  MPI_Group group = group_of(rgt_size, ranks);
  for (int m = 0; m < METHODS; m++) {
    RGT_OK(rg_comm_create_group(MPI_COMM_WORLD, group, tag, methods[m], &comm));
    expect_comm(comm, rgt_size, ranks);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&group);
}

static void test_arguments(void) {
  MPI_Comm comm = MPI_COMM_SELF;
  MPI_Group world;
  int *bound, found;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  RGT_FAILS(rg_comm_create_group(MPI_COMM_NULL, world, 0, RG_METHOD_AUTO, &comm), RG_ERR_COMM);
  RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, RG_METHOD_AUTO, &comm),
            RG_ERR_GROUP);
  RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, world, -1, RG_METHOD_AUTO, &comm), RG_ERR_TAG);
  if (*bound < 2147483647)
    RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, world, *bound + 1, RG_METHOD_AUTO, &comm),
              RG_ERR_TAG);
  RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, world, 0, (rg_comm_method)17, &comm), RG_ERR_ARG);
  RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, world, 0, RG_METHOD_AUTO, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_comm_count(NULL), RG_ERR_ARG);
  RGT_TRUE(comm == MPI_COMM_SELF); /* outputs are set only on success */
  MPI_Group_free(&world);
}

static void test_no_subset(void) {
  MPI_Group world;
  MPI_Comm comm = MPI_COMM_SELF;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (rgt_size > 1)
    RGT_FAILS(rg_comm_create_group(MPI_COMM_SELF, world, 0, RG_METHOD_AUTO, &comm), RG_ERR_GROUP);
  RGT_TRUE(comm == MPI_COMM_SELF);
  MPI_Group_free(&world);
}

static void test_inter_communicator(void) {
  MPI_Comm half, inter, comm = MPI_COMM_SELF;
  MPI_Group group;
  if (rgt_size < 2)
    return;
  MPI_Comm_split(MPI_COMM_WORLD, rgt_rank % 2, rgt_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rgt_rank % 2, 7, &inter);
  MPI_Comm_group(inter, &group);
  RGT_FAILS(rg_comm_create_group(inter, group, 0, RG_METHOD_AUTO, &comm), RG_ERR_COMM);
  RGT_FAILS(rg_intercomm_create_group(inter, group, group, 0, RG_METHOD_AUTO, &comm), RG_ERR_COMM);
  RGT_TRUE(comm == MPI_COMM_SELF);
  MPI_Group_free(&group);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* The last rank names the members in another order: all get the error. */
static void test_different_lists(void) {
  int ranks[RANKS_MOST];
  MPI_Comm comm = MPI_COMM_SELF;
  if (rgt_size < 3)
    return;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  if (rgt_rank == rgt_size - 1) {
    ranks[0] = 1;
    ranks[1] = 0;
  }
  MPI_Group group = group_of(rgt_size, ranks);
  for (int m = 0; m < METHODS; m++)
    RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, group, 11, methods[m], &comm), RG_ERR_MISMATCH);
  RGT_TRUE(comm == MPI_COMM_SELF);
  MPI_Group_free(&group);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_works(11);
}

/* All ranks; for the last one all but rank 0. */
static MPI_Group different_set(void) {
  int ranks[RANKS_MOST], last = rgt_rank == rgt_size - 1;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  return group_of(rgt_size - last, ranks + last);
}

/* The last rank leaves rank 0 out, and rank 0 waits for it until the time limit. At least one rank
 * gets RG_ERR_MISMATCH instead of RG_ERR_TIMEOUT, unless a rank was late: then all try again with a
 * longer limit. */
static void test_different_sets(void) {
  int any = 0;
  MPI_Comm comm = MPI_COMM_SELF;
  if (rgt_size < 3)
    return;
  MPI_Group group = different_set();
  for (double limit = 1; !any && limit <= 16; limit *= 4) {
    MPI_Barrier(MPI_COMM_WORLD);
    set_limit(limit);
    int error = rg_comm_create_group(MPI_COMM_WORLD, group, 15, RG_METHOD_AUTO, &comm);
    set_limit(60);
    RGT_TRUE(error == RG_ERR_MISMATCH || error == RG_ERR_TIMEOUT);
    RGT_TRUE(comm == MPI_COMM_SELF);
    int mismatch = error == RG_ERR_MISMATCH;
    MPI_Allreduce(&mismatch, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  RGT_INT(any, 1);
  MPI_Group_free(&group);
  expect_all_works(16);
}

/* Receives the messages of the library with this tag that have not been received, and counts them.
 */
static int receive_left(int tag) {
  int left = 0, there;
  for (double end = MPI_Wtime() + 0.02; MPI_Wtime() < end;) {
    char bytes[256];
    MPI_Iprobe(MPI_ANY_SOURCE, tag, rgi_runtime.comm, &there, MPI_STATUS_IGNORE);
    if (there)
      MPI_Recv(bytes, sizeof bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, rgi_runtime.comm,
               MPI_STATUS_IGNORE);
    left += there;
  }
  return left;
}

/* As before; the rank to which the last one reports tells it of the mistake before the others' time
 * is up, and their message to the last one comes later. MPICH 4.2 ends a program that leaves a
 * message in a communicator. A rank may be late: then all try again. */
static void test_late_decision(void) {
  int all = 1;
  MPI_Comm comm = MPI_COMM_SELF;
  if (rgt_size < 3)
    return;
  int last = rgt_rank == rgt_size - 1, teller = 1 + ((rgt_size - 2) & (rgt_size - 3));
  MPI_Group group = different_set();
  for (int i = 0; all && i < 5; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    set_limit(last ? 5 : rgt_rank == teller ? 0.3 : 0.35);
    int error = rg_comm_create_group(MPI_COMM_WORLD, group, 17 + i, RG_METHOD_AUTO, &comm);
    RGT_TRUE(error == RG_ERR_MISMATCH || error == RG_ERR_TIMEOUT);
    MPI_Barrier(MPI_COMM_WORLD);
    int left = receive_left(17 + i);
    MPI_Allreduce(&left, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  RGT_INT(all, 0);
  set_limit(60);
  MPI_Group_free(&group);
  expect_all_works(16);
}

static void test_different_methods(void) {
  int ranks[RANKS_MOST];
  MPI_Comm comm = MPI_COMM_SELF;
  if (rgt_size < 2)
    return;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  MPI_Group group = group_of(rgt_size, ranks);
  RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, group, 12,
                                 rgt_rank ? RG_METHOD_NATIVE : RG_METHOD_RECURSIVE, &comm),
            RG_ERR_MISMATCH);
  MPI_Group_free(&group);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_works(12);
}

/* The last rank calls only after the time limit of the others: it gets the same error, which
 * names it on the others, and the next call works on all. */
static void test_late_member(void) {
  int ranks[RANKS_MOST];
  char text[80];
  MPI_Comm comm = MPI_COMM_SELF;
  if (rgt_size < 2)
    return;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  MPI_Group group = group_of(rgt_size, ranks);
  snprintf(text, sizeof text, "rank %d did not take part within RG_TIMEOUT", rgt_size - 1);
  set_limit(0.5);
  if (rgt_rank == rgt_size - 1) {
    char go;
    for (int i = 0; i < rgt_size - 1; i++)
      MPI_Recv(&go, 1, MPI_CHAR, i, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, group, 13, RG_METHOD_AUTO, &comm),
              RG_ERR_TIMEOUT);
  } else {
    RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, group, 13, RG_METHOD_AUTO, &comm),
              RG_ERR_TIMEOUT);
    RGT_STR(strstr(rg_error_detail(), "rank "), strstr(text, "rank ")); /* of all: the late one */
    MPI_Send("g", 1, MPI_CHAR, rgt_size - 1, 90, MPI_COMM_WORLD);
  }
  set_limit(60);
  RGT_TRUE(comm == MPI_COMM_SELF);
  MPI_Group_free(&group);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_works(13);
}

/* Rank 0 alone holds as many communicators as MPI gives it. */
static void test_too_many(void) {
  static MPI_Comm kept[4096];
  int ranks[RANKS_MOST], n = 0, before, after;
  MPI_Comm self, comm = MPI_COMM_SELF;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  while (rgt_rank == 0 && n < 4096 && MPI_Comm_dup(self, &kept[n]) == MPI_SUCCESS)
    n++;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  MPI_Group group = group_of(rgt_size, ranks);
  rg_comm_count(&before);
  MPI_Barrier(MPI_COMM_WORLD);
  int limited = n < 4096;
  MPI_Bcast(&limited, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int m = 0; m < METHODS && limited; m++)
    RGT_FAILS(rg_comm_create_group(MPI_COMM_WORLD, group, 14, methods[m], &comm), RG_ERR_LIMIT);
  RGT_TRUE(comm == MPI_COMM_SELF);
  rg_comm_count(&after);
  RGT_INT(after, before);
  MPI_Group_free(&group);
  while (n > 0)
    MPI_Comm_free(&kept[--n]);
  MPI_Comm_free(&self);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_works(14);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"arguments", test_arguments},
                                   {"no subset", test_no_subset},
                                   {"inter-communicator as parent", test_inter_communicator},
                                   {"different lists", test_different_lists},
                                   {"different sets", test_different_sets},
                                   {"late decision", test_late_decision},
                                   {"different methods", test_different_methods},
                                   {"late member", test_late_member},
                                   {"too many communicators", test_too_many},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "comm_errors", tests);
}
