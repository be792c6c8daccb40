/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each collective call of groups and communicators that returns the error of one process on all of
 * them names that process. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "base/options.h"
#include "tests/check/reported.h"

/* The rank that does something wrong. */
static int wrong_rank(void) {
  return rgt_size - 1;
}

static int is_wrong(void) {
  return rgt_rank == wrong_rank();
}

static void test_init(void) {
  int error = rg_init(MPI_COMM_WORLD, is_wrong() ? "timeout=soon" : NULL);
  expect_reported(error, RG_ERR_OPTION, rgt_rank, wrong_rank(), "soon");
}

static void test_tuning(void) {
  setenv("RG_TUNING", "/no/such/file", 1);
  int error = rg_init(MPI_COMM_WORLD, NULL);
  unsetenv("RG_TUNING");
  expect_reported(error, RG_ERR_OPTION, rgt_rank, 0, "/no/such/file");
}

/* Before the library runs: the options are looked at by rg_inter_start itself. */
static void test_inter_start(void) {
  int part;
  if (is_wrong())
    setenv("RG_RESERVE", "few", 1);
  int error = rg_inter_start(NULL, &part);
  unsetenv("RG_RESERVE");
  expect_reported(error, RG_ERR_OPTION, rgt_rank, wrong_rank(), "RG_RESERVE");
  RGT_OK(rgi_options_load(NULL));
}

static void test_topology(void) {
  MPI_Comm level;
  int error = rg_comm_split_topology(MPI_COMM_WORLD, is_wrong() ? 64 : RG_LEVEL_ALL, 0, &level);
  expect_reported(error, RG_ERR_ARG, rgt_rank, wrong_rank(), "64");
}

/* Only rank 0's order counts. */
static void test_spawn(void) {
  MPI_Comm inter;
  int error =
      rg_intercomm_spawn(MPI_COMM_WORLD, rgt_rank ? "a" : "/no/such/program", NULL, 1, &inter);
  expect_reported(error, RG_ERR_ARG, rgt_rank, 0, "/no/such/program");
  error = rg_intercomm_spawn(MPI_COMM_WORLD, "a", NULL, rgt_rank ? 1 : 0, &inter);
  expect_reported(error, RG_ERR_ARG, rgt_rank, 0, "0 processes");
}

static void test_split(void) {
  rg_group world, part;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  int error = rg_group_split(world, is_wrong() ? -7 : 0, 0, &part);
  expect_reported(error, RG_ERR_ARG, rgt_rank, wrong_rank(), "");
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Member 0 asks for processes; its rank is that in the group, whichever process it is. */
static void test_grow(void) {
  rg_group outside, g, grown;
  if (rgt_size < 4)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_reserve_open(1, &outside));
  if (outside) {
    RGT_OK(rg_group_create_range(outside, 1, rgt_size - 2, 1, 0, &g));
    if (rgt_rank > 0) {
      int error = rg_group_grow(g, 2, &grown);
      expect_reported(error, RG_ERR_RESERVE, rgt_rank - 1, 0, "1 are in reserve");
      RGT_OK(rg_group_free(&g));
    }
    RGT_OK(rg_reserve_leave());
  } else {
    rg_acquisition none = {.size = sizeof none};
    RGT_OK(rg_reserve_park(&none));
  }
  RGT_OK(rg_group_free(&outside));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"init", test_init},
                                   {"tuning", test_tuning},
                                   {"inter_start", test_inter_start},
                                   {"topology", test_topology},
                                   {"spawn", test_spawn},
                                   {"split", test_split},
                                   {"grow", test_grow},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "reported", tests);
}
