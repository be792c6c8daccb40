/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 5 6 7 8 9
 * time: 60
 * wrap: MPI_Comm_get_parent
 * The building blocks of benchmarks on a job that is split, in every way; also with
 * the last processes in reserve. */
#include "inter_cases.h"

#include <regroup/runtime.h>
#include <stdio.h>
#include <string.h>

static expected whole(int rank, int size) {
  return (expected){RG_INTER_NONE, 0, size, size, 1, rank};
}

/* n as in --split=n, of a world of `size` processes. */
static expected after_split(int n, int rank, int size) {
  expected e = {RG_INTER_SPLIT, 1, n ? size - n : (size + 1) / 2, n ? n : size / 2, 0, 0};
  e.initiates = n ? rank < size - n : rank % 2 == 0;
  e.rank = n ? (e.initiates ? rank : rank - (size - n)) : rank / 2;
  return e;
}

static void start(rg_inter_kind kind, int n) {
  rg_inter_options how = {sizeof how, kind, n, NULL};
  int part = -1;
  RGT_OK(rg_inter_start(&how, &part));
  RGT_INT(part, 1);
}

static void test_none(void) {
  expected e = whole(rgt_rank, rgt_size);
  int part = -1;
  check_all(&e); /* before */
  start(RG_INTER_NONE, 0);
  check_all(&e);
  RGT_TRUE(answer_comm(rg_inter_benchmark) == MPI_COMM_WORLD);
  RGT_OK(rg_inter_end());
  RGT_OK(rg_inter_start(NULL, &part));
  RGT_INT(part, 1);
  check_all(&e);
  RGT_OK(rg_inter_end());
  check_all(&e); /* and after */
  RGT_OK(rg_inter_end());
}

static void test_splits(void) {
  expected e = whole(rgt_rank, rgt_size);
  for (int n = 0; n < rgt_size && rgt_size > 1; n++) {
    expected s = after_split(n, rgt_rank, rgt_size);
    start(RG_INTER_SPLIT, n);
    check_all(&s);
    RGT_OK(rg_inter_end());
  }
  check_all(&e);
}

/* What a program that is none of this library's has spawned has a parent, too. */
static MPI_Comm foreign = MPI_COMM_NULL;
int __real_MPI_Comm_get_parent(MPI_Comm *parent);
int __wrap_MPI_Comm_get_parent(MPI_Comm *parent);
int __wrap_MPI_Comm_get_parent(MPI_Comm *parent) {
  if (foreign == MPI_COMM_NULL)
    return __real_MPI_Comm_get_parent(parent);
  *parent = foreign;
  return MPI_SUCCESS;
}

static void test_foreign_parent(void) {
  expected e = whole(rgt_rank, rgt_size), s = after_split(1, rgt_rank, rgt_size);
  foreign = MPI_COMM_SELF;
  start(RG_INTER_NONE, 0);
  check_all(&e);
  RGT_OK(rg_inter_end());
  if (rgt_size > 1) {
    start(RG_INTER_SPLIT, 1);
    check_all(&s);
    RGT_OK(rg_inter_end());
  }
  foreign = MPI_COMM_NULL;
}

static void check_refused(rg_inter_kind kind, int n, int code) {
  rg_inter_options how = {sizeof how, kind, n, NULL};
  int part = -1;
  RGT_FAILS(rg_inter_start(&how, &part), code);
  RGT_INT(part, -1);
  RGT_INT(answer(rg_inter_is_inter), 0);
}

static void test_errors(void) {
  check_refused(RG_INTER_SPLIT, rgt_size, RG_ERR_ARG);
  check_refused(RG_INTER_SPLIT, rgt_size + 1, RG_ERR_ARG);
  check_refused(RG_INTER_SPLIT, -1, RG_ERR_ARG);
  check_refused(RG_INTER_SPAWN, 0, RG_ERR_ARG);
  check_refused(RG_INTER_CONNECT, -3, RG_ERR_ARG);
  check_refused((rg_inter_kind)9, 1, RG_ERR_ARG);
  if (rgt_size == 1)
    check_refused(RG_INTER_SPLIT, 0, RG_ERR_ARG);
  else
    check_refused(RG_INTER_SPLIT, rgt_rank == rgt_size - 1 ? 0 : 1, RG_ERR_MISMATCH);
  RGT_FAILS(rg_inter_start(NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_inter_get_view(NULL), RG_ERR_ARG);
  RGT_FAILS(rg_inter_rank(NULL), RG_ERR_ARG);
  RGT_FAILS(rg_inter_has_initiator_rank(0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_inter_lookup_rank(0, NULL), RG_ERR_ARG);
  start(RG_INTER_NONE, 0);
  int part = -1;
  RGT_FAILS(rg_inter_start(NULL, &part), RG_ERR_INIT);
  RGT_OK(rg_inter_end());
}

/* Where nothing can be spawned the text says how to start the job. MPI that can is
 * tested by test_inter_native.py. */
static void test_nothing_to_spawn(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  if (!strstr(version, "MPICH"))
    return;
  check_refused(RG_INTER_SPAWN, 2, RG_ERR_UNSUPPORTED);
  RGT_TRUE(strstr(rg_error_detail(), "RG_RESERVE"));
  check_refused(RG_INTER_CONNECT, 2, RG_ERR_UNSUPPORTED);
  RGT_TRUE(strstr(rg_error_detail(), "RG_RESERVE"));
}

/* The last `aside` processes sleep meanwhile and take no part. */
static void split_with_reserve(int aside, int n) {
  rg_inter_options how = {sizeof how, RG_INTER_SPLIT, n, NULL};
  int part = -1, size = rgt_size - aside;
  char options[32];
  snprintf(options, sizeof options, "reserve=%d", aside);
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_inter_start(&how, &part));
  RGT_INT(part, rgt_rank < size);
  if (part == 1) {
    expected e = after_split(n, rgt_rank, size);
    check_all(&e);
  } else {
    rg_inter_view v = {.size = sizeof v};
    RGT_FAILS(rg_inter_get_view(&v), RG_ERR_GROUP);
  }
  RGT_OK(rg_inter_end());
  RGT_OK(rg_finalize());
}

static void test_reserve(void) {
  for (int aside = 1; aside <= rgt_size - 2; aside += 3)
    for (int n = 0; n < rgt_size - aside; n += 2)
      split_with_reserve(aside, n);
}

/* MPI_Finalize cleans up where the program has not called rg_inter_end. */
static void test_forgotten(void) {
  start(rgt_size > 1 ? RG_INTER_SPLIT : RG_INTER_NONE, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"no inter-communicator", test_none},
                                   {"every split", test_splits},
                                   {"a foreign parent", test_foreign_parent},
                                   {"errors", test_errors},
                                   {"nothing to spawn", test_nothing_to_spawn},
                                   {"split with a reserve", test_reserve},
                                   {"forgotten", test_forgotten},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "inter_split", tests);
}
