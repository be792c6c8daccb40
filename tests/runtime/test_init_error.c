/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where MPI fails in rg_init, the call returns RG_ERR_MPI whatever the communicator's error handler
 * is, the handler stays, and the next call works.
 *
 * ranks: 1 2 3
 * few: 2
 * wrap: MPI_Iallreduce MPI_Comm_dup */
#include <mpi.h>
#include <regroup.h>

#include "tests/check/check.h"

__typeof__(MPI_Iallreduce) __real_MPI_Iallreduce, __wrap_MPI_Iallreduce;
__typeof__(MPI_Comm_dup) __real_MPI_Comm_dup, __wrap_MPI_Comm_dup;

static int exchanges = -1, dups = -1; /* calls before the one that fails; below 0: none does */
static int handled;

int __wrap_MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request *request) {
  if (exchanges < 0 || exchanges-- > 0)
    return __real_MPI_Iallreduce(from, to, count, type, op, comm, request);
  *request = MPI_REQUEST_NULL;
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

int __wrap_MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
  if (dups < 0 || dups-- > 0)
    return __real_MPI_Comm_dup(comm, copy);
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

static void count_error(MPI_Comm *comm, int *code, ...) {
  (void)comm;
  (void)code;
  handled++;
}

static void check_start(MPI_Errhandler handler) {
  MPI_Errhandler after;
  rg_group world;
  int sum = 0, one = 1;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
  RGT_TRUE(after == handler);
  MPI_Errhandler_free(&after);
  RGT_INT(handled, 0);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_allreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static void check_handler(MPI_Errhandler handler) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  exchanges = 0;
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_MPI);
  exchanges = -1;
  check_start(handler);
  dups = 0;
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_MPI);
  dups = -1;
  check_start(handler);
}

static void test_fatal(void) {
  check_handler(MPI_ERRORS_ARE_FATAL);
}

static void test_own(void) {
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(count_error, &own);
  check_handler(own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"fatal", test_fatal}, {"own", test_own}, {NULL, NULL}};
  return rgt_main(argc, argv, "init_error", tests);
}
