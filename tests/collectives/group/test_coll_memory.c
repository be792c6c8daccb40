/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * nodes: 2
 * env: RG_TIMEOUT=20 RG_LOG=error UCX_LOG_LEVEL=error
 * wrap: malloc calloc realloc
 * In a group's first collective one member gets no memory, at each of the allocations in turn: it
 * gets an error, and no other member waits for it. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/collectives.h>
#include <stdlib.h>

#include "tests/check/check.h"

enum { MOST = 7, LONG = 20000 };

static rg_group world;
static int left; /* the allocation that is to fail; 0: none */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static int fails(void) {
  return left > 0 && --left == 0;
}

void *__wrap_malloc(size_t bytes) {
  return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes) {
  return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
  return fails() ? NULL : __real_realloc(old, bytes);
}

static double in[MOST * LONG], out[MOST * LONG];

static int barrier(rg_group g) {
  return rg_barrier(g);
}

static int bcast(rg_group g) {
  return rg_bcast(g, in, 1, MPI_DOUBLE, 0);
}

static int long_bcast(rg_group g) {
  return rg_bcast(g, in, LONG, MPI_DOUBLE, rgt_size - 1);
}

static int allreduce(rg_group g) {
  return rg_allreduce(g, in, out, 1, MPI_DOUBLE, MPI_SUM);
}

static int long_allreduce(rg_group g) {
  return rg_allreduce(g, in, out, LONG, MPI_DOUBLE, MPI_SUM);
}

static int butterfly(rg_group g) {
  int error = rg_group_set_algorithm(g, RG_OP_ALLREDUCE, "butterfly");
  return error ? error : rg_allreduce(g, in, out, 8, MPI_DOUBLE, MPI_SUM);
}

static int allgather(rg_group g) {
  return rg_allgather(g, in, 8, MPI_DOUBLE, out, 8, MPI_DOUBLE);
}

static int alltoall(rg_group g) {
  return rg_alltoall(g, in, LONG, MPI_DOUBLE, out, LONG, MPI_DOUBLE);
}

static int reduce_scatter(rg_group g) {
  return rg_reduce_scatter_block(g, in, out, 8, MPI_DOUBLE, MPI_SUM);
}

static int (*const operations[])(rg_group g) = {barrier,   bcast,          long_bcast,
                                                allreduce, long_allreduce, butterfly,
                                                allgather, alltoall,       reduce_scatter};
#define OPERATIONS (int)(sizeof operations / sizeof *operations)

/* Whether there is such an allocation. */
static int fail_at(int operation, int victim, int allocation) {
  rg_group g = NULL;
  int has_failed;
  RGT_OK(rg_group_dup(world, &g));
  MPI_Barrier(MPI_COMM_WORLD);
  left = rgt_rank == victim ? allocation : 0;
  int got = operations[operation](g);
  int state[2] = {got, left == 0};
  left = 0;
  MPI_Bcast(state, 2, MPI_INT, victim, MPI_COMM_WORLD);
  has_failed = state[1];
  RGT_TRUE(got != RG_ERR_TIMEOUT);
  RGT_TRUE(state[0] == RG_SUCCESS || has_failed);
  if (state[0])
    RGT_INT(state[0], RG_ERR_NOMEM);
  int after = rg_barrier(g);
  RGT_TRUE(after != RG_ERR_TIMEOUT);
  RGT_TRUE((after == RG_SUCCESS) == (state[0] == RG_SUCCESS));
  RGT_OK(rg_group_free(&g));
  return has_failed;
}

static void test_no_memory(void) {
  for (int operation = 0; operation < OPERATIONS; operation++)
    for (int victim = 0; victim < rgt_size; victim++)
      for (int k = 1; k < 100 && fail_at(operation, victim, k); k++)
        continue;
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void test_stop(void) {
  RGT_OK(rg_barrier(world));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"no memory", test_no_memory}, {"stop", test_stop}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_memory", tests);
}
