/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Collectives on a fresh group while a process lacks memory: test_memory.py. Each member's operand
 * is its rank, or for blocks its rank and the block's. */
#include <mpi.h>
#include <regroup.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { MOST = 8, LONG = 20000, BLOCK = 40 };

static int n; /* elements of a vector, or of a block */
static double in[MOST * LONG], out[MOST * LONG];
static MPI_Count counts[MOST];
static MPI_Aint displs[MOST];
static rg_request request;

static int set_up(int length) {
  n = length;
  for (int i = 0; i < n * rgt_size; i++) {
    in[i] = rgt_rank + 100 * (i / n);
    out[i] = -1;
  }
  for (int i = 0; i < rgt_size; i++) {
    counts[i] = n;
    displs[i] = (MPI_Aint)i * n;
  }
  return RG_SUCCESS;
}

static int short_one(void) {
  return set_up(1);
}

static int blocks(void) {
  return set_up(BLOCK);
}

static int long_one(void) {
  return set_up(LONG);
}

/* The first and the last element of block i of the result. */
static int has(int i, double value) {
  return out[i * n] == value && out[(i + 1) * n - 1] == value;
}

static int sum(void) {
  return rgt_size * (rgt_size - 1) / 2;
}

static int summed(void) {
  return has(0, sum());
}

static int summed_at_last(void) {
  return rgt_rank < rgt_size - 1 || summed();
}

static int own_block_summed(void) {
  return has(0, sum() + 100 * rgt_rank * rgt_size);
}

static int gathered(void) {
  int good = 1;
  for (int i = 0; i < rgt_size; i++)
    good &= has(i, i);
  return good;
}

static int gathered_at_last(void) {
  return rgt_rank < rgt_size - 1 || gathered();
}

static int scattered(void) {
  return has(0, rgt_size - 1 + 100 * rgt_rank);
}

static int exchanged(void) {
  int good = 1;
  for (int i = 0; i < rgt_size; i++)
    good &= has(i, i + 100 * rgt_rank);
  return good;
}

static int scanned(void) {
  return has(0, rgt_rank * (rgt_rank + 1) / 2);
}

static int scanned_before(void) {
  return has(0, rgt_rank ? rgt_rank * (rgt_rank - 1) / 2 : -1);
}

static int broadcast_right(void) {
  return in[0] == rgt_size - 1 && in[n - 1] == rgt_size - 1;
}

/* A blocking operation, and the non-blocking one. */
#define OPERATION(name, function, ...)                                                             \
  static int name(void) {                                                                          \
    return rg_##function(__VA_ARGS__);                                                             \
  }                                                                                                \
  static int i##name(void) {                                                                       \
    int code = rg_i##function(__VA_ARGS__, &request);                                              \
    return code ? code : rg_wait(&request, NULL);                                                  \
  }

#define D MPI_DOUBLE
static int barrier(void) {
  return rg_barrier(shortage_group);
}

static int ibarrier(void) {
  int code = rg_ibarrier(shortage_group, &request);
  return code ? code : rg_wait(&request, NULL);
}

OPERATION(bcast, bcast, shortage_group, in, n, D, rgt_size - 1)
OPERATION(reduce, reduce, shortage_group, in, out, n, D, MPI_SUM, rgt_size - 1)
OPERATION(allreduce, allreduce, shortage_group, in, out, n, D, MPI_SUM)
OPERATION(gather, gather, shortage_group, in, n, D, out, n, D, rgt_size - 1)
OPERATION(gatherv, gatherv, shortage_group, in, n, D, out, counts, displs, D, rgt_size - 1)
OPERATION(scatter, scatter, shortage_group, in, n, D, out, n, D, rgt_size - 1)
OPERATION(scatterv, scatterv, shortage_group, in, counts, displs, D, out, n, D, rgt_size - 1)
OPERATION(allgather, allgather, shortage_group, in, n, D, out, n, D)
OPERATION(allgatherv, allgatherv, shortage_group, in, n, D, out, counts, displs, D)
OPERATION(alltoall, alltoall, shortage_group, in, n, D, out, n, D)
OPERATION(alltoallv, alltoallv, shortage_group, in, counts, displs, D, out, counts, displs, D)
OPERATION(reduce_scatter, reduce_scatter, shortage_group, in, out, counts, D, MPI_SUM)
OPERATION(reduce_scatter_block, reduce_scatter_block, shortage_group, in, out, n, D, MPI_SUM)
OPERATION(scan, scan, shortage_group, in, out, n, D, MPI_SUM)
OPERATION(exscan, exscan, shortage_group, in, out, n, D, MPI_SUM)

static int reproducible(void) {
  return rg_sum_reproducible(shortage_group, in, n, out);
}

static int reproduced(void) {
  return out[0] == (double)n * sum();
}

static float single[BLOCK], single_sum;

static int make_single(void) {
  for (int i = 0; i < BLOCK; i++)
    single[i] = (float)rgt_rank;
  return RG_SUCCESS;
}

static int reproducible_float(void) {
  return rg_sum_reproducible_float(shortage_group, single, BLOCK, &single_sum);
}

static int reproduced_float(void) {
  return single_sum == (float)(BLOCK * sum());
}

static int reproducible_columns(void) {
  return rg_sums_reproducible(shortage_group, in, n, 1, out);
}

static int due;
static int checkpoint_due(void) {
  return rg_checkpoint_due(shortage_group, &due);
}

static const char *name;
SHORTAGE_TWICE(algorithm, rg_group_algorithm(shortage_group, RG_OP_BCAST, 8, &name))
static int set_algorithm(void) {
  return rg_group_set_algorithm(shortage_group, RG_OP_BCAST, "binomial");
}

#define BOTH(name, begin, right)                                                                   \
  {"rg_" #name ", " #begin, SHORTAGE_GROUP, begin, name, right, NULL}, {                           \
    "rg_i" #name ", " #begin, SHORTAGE_GROUP, begin, i##name, right, NULL                          \
  }

static const shortage_call calls[] = {
    BOTH(barrier, short_one, NULL),
    BOTH(bcast, short_one, broadcast_right),
    BOTH(bcast, long_one, broadcast_right),
    BOTH(reduce, short_one, summed_at_last),
    BOTH(reduce, long_one, summed_at_last),
    BOTH(allreduce, short_one, summed),
    BOTH(allreduce, long_one, summed),
    BOTH(gather, blocks, gathered_at_last),
    BOTH(gatherv, blocks, gathered_at_last),
    BOTH(scatter, blocks, scattered),
    BOTH(scatterv, blocks, scattered),
    BOTH(allgather, blocks, gathered),
    BOTH(allgather, long_one, gathered),
    BOTH(allgatherv, blocks, gathered),
    BOTH(alltoall, blocks, exchanged),
    BOTH(alltoall, long_one, exchanged),
    BOTH(alltoallv, blocks, exchanged),
    BOTH(reduce_scatter, blocks, own_block_summed),
    BOTH(reduce_scatter_block, blocks, own_block_summed),
    BOTH(scan, blocks, scanned),
    BOTH(exscan, blocks, scanned_before),
    {"rg_sum_reproducible", SHORTAGE_GROUP, long_one, reproducible, reproduced, NULL},
    {"rg_sum_reproducible_float", SHORTAGE_GROUP, make_single, reproducible_float, reproduced_float,
     NULL},
    {"rg_sums_reproducible", SHORTAGE_GROUP, blocks, reproducible_columns, reproduced, NULL},
    {"rg_checkpoint_due", SHORTAGE_GROUP, NULL, checkpoint_due, NULL, NULL},
    {"rg_group_algorithm", SHORTAGE_ONE, NULL, algorithm, NULL, NULL},
    {"rg_group_set_algorithm", SHORTAGE_GROUP, NULL, set_algorithm, NULL, NULL},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_collectives", calls);
}
