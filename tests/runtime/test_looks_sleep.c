/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2
 * env: RG_OVERSUBSCRIBED=no RG_WAIT=sleep
 * A loop of looks is a wait: with RG_WAIT=sleep it sleeps, also where each process has a
 * processor. One that has found something begins anew. */
#include <mpi.h>
#include <regroup.h>
#include <sys/resource.h>

#include "tests/check/check.h"

enum { TIMES = 200 };

static rg_group world;
static rg_request request;
static MPI_Request mpi_request;

static void test_one(void) {
  int done;
  rg_test(&request, &done, NULL);
}

static void test_all(void) {
  int done;
  rg_test_all(1, &request, &done, NULL);
}

static void test_any(void) {
  int64_t at;
  int done;
  rg_test_any(1, &request, &at, &done, NULL);
}

static void test_some(void) {
  int64_t n, at;
  rg_test_some(1, &request, &n, &at, NULL);
}

static void probe(void) {
  int there;
  rg_iprobe(world, RG_ANY_SOURCE, 1, &there, NULL);
}

static void match(void) {
  int there;
  rg_message message;
  rg_improbe(world, RG_ANY_SOURCE, 1, &there, &message, NULL);
}

static void mpi_test(void) {
  int done;
  MPI_Test(&mpi_request, &done, MPI_STATUS_IGNORE);
}

static void mpi_probe(void) {
  int there;
  MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static long sleeps(void (*look)(void)) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < TIMES; i++)
    look();
  getrusage(RUSAGE_SELF, &after);
  return after.ru_nvcsw - before.ru_nvcsw;
}

static void test_looks(void) {
  static void (*const looks[])(void) = {test_one, test_all, test_any, test_some,
                                        probe,    match,    mpi_test, mpi_probe};
  int active, x, y;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_irecv(world, &x, 1, MPI_INT, rgt_rank, 0, &request));
  MPI_Irecv(&y, 1, MPI_INT, rgt_rank, 0, MPI_COMM_WORLD, &mpi_request);
  RGT_OK(rg_polite_active(&active)); /* MPI's own looks */
  for (int i = 0; i < (active ? 8 : 6); i++)
    RGT_TRUE(sleeps(looks[i]) > TIMES / 10);
  RGT_OK(rg_send(world, &rgt_rank, 1, MPI_INT, rgt_rank, 0));
  RGT_OK(rg_wait(&request, NULL));
  MPI_Cancel(&mpi_request);
  MPI_Wait(&mpi_request, MPI_STATUS_IGNORE);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"looks", test_looks}, {NULL, NULL}};
  return rgt_main(argc, argv, "looks_sleep", tests);
}
