/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 9
 * env: RG_TIMEOUT=60 RG_WAIT=yield RG_COLL=scatter=chunks
 * The ways inside a node, each forced by its name: it is used where its condition holds, else the
 * automatic choice; results in closed form. With processors for all ranks, and without; all ranks
 * count as one node's. */
#include <regroup.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/node.h"
#include "tests/check/check.h"

enum { MOST = 20000, MOST_CELLS = 200 }; /* longs: several chunks; a step for each 56 bytes */
static const int lengths[] = {1, 7, MOST_CELLS, MOST};
static rg_group world;
static int spins;
static long *in, *out;

/* Whether a call of so many bytes may go so: from the documentation. */
static int may(rg_operation op, const char *name, size_t bytes) {
  int levels = spins && rgt_size > 8, reads = rgi_node.pids != NULL;
  size_t others = (size_t)rgt_size - 1;
  if (strcmp(name, "levels") == 0 && op == RG_OP_REDUCE_SCATTER)
    return levels && bytes * (size_t)rgt_size <= 56;
  if (strcmp(name, "levels") == 0)
    return levels && bytes <= (op == RG_OP_BCAST ? 8u : 1u) << 10;
  if (strcmp(name, "once") == 0 && op == RG_OP_REDUCE)
    return bytes <= 8 << 10 && (!spins || bytes * others * others <= 16 << 10);
  if (strcmp(name, "once") == 0)
    return bytes * others <= (spins ? 4u : 32u) << 10;
  if (strcmp(name, "spread") == 0 || (strcmp(name, "direct") == 0 && op == RG_OP_REDUCE_SCATTER))
    return reads && spins && rgt_size > 2 && bytes >= 32 << 10 &&
           (op == RG_OP_BCAST || rgt_size <= 8);
  return strcmp(name, "direct") == 0 ? reads : 1;
}

static long value(int rank, int to, int i) {
  return 1000L * rank + 7L * to + i % 100;
}

/* The sum of value(rank, to, i) of the first `ranks` ranks. */
static long sum(int ranks, int to, int i) {
  return 1000L * ranks * (ranks - 1) / 2 + ranks * (7L * to + i % 100);
}

static void fill(int n, int blocks) {
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < n; i++)
      in[b * n + i] = value(rgt_rank, b, i);
  for (int i = 0; i < n * rgt_size; i++)
    out[i] = -1;
}

static int call(rg_operation op, int n, int root) {
  switch (op) {
  case RG_OP_BARRIER:
    return rg_barrier(world);
  case RG_OP_BCAST:
    memcpy(out, in, (size_t)n * sizeof *out);
    return rg_bcast(world, out, n, MPI_LONG, root);
  case RG_OP_REDUCE:
    return rg_reduce(world, in, out, n, MPI_LONG, MPI_SUM, root);
  case RG_OP_ALLREDUCE:
    return rg_allreduce(world, in, out, n, MPI_LONG, MPI_SUM);
  case RG_OP_GATHER:
    return rg_gather(world, in, n, MPI_LONG, out, n, MPI_LONG, root);
  case RG_OP_SCATTER:
    return rg_scatter(world, in, n, MPI_LONG, out, n, MPI_LONG, root);
  case RG_OP_ALLGATHER:
    return rg_allgather(world, in, n, MPI_LONG, out, n, MPI_LONG);
  case RG_OP_ALLTOALL:
    return rg_alltoall(world, in, n, MPI_LONG, out, n, MPI_LONG);
  case RG_OP_REDUCE_SCATTER:
    return rg_reduce_scatter_block(world, in, out, n, MPI_LONG, MPI_SUM);
  case RG_OP_SCAN:
    return rg_scan(world, in, out, n, MPI_LONG, MPI_SUM);
  default:
    return rg_exscan(world, in, out, n, MPI_LONG, MPI_SUM);
  }
}

/* Element i of block b of the result; -1: there is none. */
static long expected(rg_operation op, int b, int i, int root) {
  int first = b == 0, at_root = rgt_rank == root;
  switch (op) {
  case RG_OP_BCAST:
    return first ? value(root, 0, i) : -1;
  case RG_OP_REDUCE:
    return first && at_root ? sum(rgt_size, 0, i) : -1;
  case RG_OP_ALLREDUCE:
    return first ? sum(rgt_size, 0, i) : -1;
  case RG_OP_GATHER:
    return at_root ? value(b, 0, i) : -1;
  case RG_OP_SCATTER:
    return first ? value(root, rgt_rank, i) : -1;
  case RG_OP_ALLGATHER:
    return value(b, 0, i);
  case RG_OP_ALLTOALL:
    return value(b, rgt_rank, i);
  case RG_OP_REDUCE_SCATTER:
    return first ? sum(rgt_size, rgt_rank, i) : -1;
  case RG_OP_SCAN:
    return first ? sum(rgt_rank + 1, 0, i) : -1;
  default:
    return first && rgt_rank > 0 ? sum(rgt_rank, 0, i) : -1;
  }
}

static void check_call(rg_operation op, int n, int root) {
  long wrong = 0;
  fill(n, rgt_size);
  RGT_OK(call(op, n, root));
  for (int b = 0; b < rgt_size && op != RG_OP_BARRIER; b++)
    for (int i = 0; i < n; i++)
      wrong += out[b * n + i] != expected(op, b, i, root);
  RGT_INT(wrong, 0);
}

static int is_way(rg_operation op, const char *name) {
  static const char *const names[] = {"levels", "cells", "once", "spread", "direct", "chunks"};
  int found = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    found |= strcmp(name, names[k]) == 0;
  return found && op != RG_OP_BARRIER;
}

static void check_row(rg_operation op, const char *name) {
  const char *used, *automatic;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    size_t bytes = (size_t)lengths[k] * sizeof(long);
    if (lengths[k] > MOST_CELLS && strcmp(name, "cells") == 0)
      continue;
    RGT_OK(rg_group_set_algorithm(world, op, "shared"));
    RGT_OK(rg_group_algorithm(world, op, (MPI_Count)bytes, &automatic));
    RGT_OK(rg_group_set_algorithm(world, op, name));
    RGT_OK(rg_group_algorithm(world, op, (MPI_Count)bytes, &used));
    RGT_TRUE(is_way(op, automatic) && may(op, automatic, bytes));
    if (op != RG_OP_SCATTER)
      if (!RGT_STR(used, may(op, name, bytes) ? name : automatic))
        fprintf(stderr, "%s=%s, %zu bytes\n", rg_operation_name(op), name, bytes);
    for (int turn = 0; turn < 2; turn++)
      check_call(op, lengths[k], (turn * 3 + (int)k) % rgt_size);
  }
  RGT_OK(rg_group_set_algorithm(world, op, "auto"));
}

static void check_ways(const char *options) {
  int count, ways = 0;
  const char *name;
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_group_world(&world));
  spins = !rgi_node.oversubscribed;
  for (int op = 0; op < RG_OP_COUNT; op++) {
    RGT_OK(rg_algorithm_count((rg_operation)op, &count));
    for (int i = 0; i < count; i++) {
      RGT_OK(rg_algorithm_get((rg_operation)op, i, &name, NULL, NULL));
      if (is_way((rg_operation)op, name)) {
        ways++;
        check_row((rg_operation)op, name);
      }
    }
  }
  RGT_TRUE(ways > 30);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static void test_sharing(void) {
  check_ways("oversubscribed=yes");
}

static void test_alone(void) {
  check_ways("oversubscribed=no");
}

/* Where the processes may not read one another. */
static void test_unreadable(void) {
  check_ways("oversubscribed=no,direct=0");
}

/* RG_COLL has precedence over the program, and names the ways, too. */
static void test_option(void) {
  const char *used;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_group_set_algorithm(world, RG_OP_SCATTER, "cells"));
  RGT_OK(rg_group_algorithm(world, RG_OP_SCATTER, 8, &used));
  RGT_STR(used, "chunks");
  RGT_FAILS(rg_group_set_algorithm(world, RG_OP_ALLTOALL, "levels"), RG_ERR_OPTION);
  RGT_FAILS(rg_group_set_algorithm(world, RG_OP_BARRIER, "cells"), RG_ERR_OPTION);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"ranks that share processors", test_sharing},
                                   {"a processor for each rank", test_alone},
                                   {"no reading of others' memory", test_unreadable},
                                   {"RG_COLL", test_option},
                                   {NULL, NULL}};
  in = malloc(sizeof *in * MOST * 16);
  out = malloc(sizeof *out * MOST * 16);
  return rgt_main(argc, argv, "coll_ways", tests);
}
