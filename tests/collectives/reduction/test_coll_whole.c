/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A user's operation gets all elements of a call at once: the bytes of a vector may be one value to
 * it. Here a vector is one value: a sum that is wrong where
 * the operation gets less.
 * env: RG_ARENA_SIZE=64 */
#include <mpi.h>
#include <regroup.h>
#include <stdint.h>
#include <string.h>

#include "tests/check/check.h"
#include "tests/check/full_arena.h"

static rg_group g;
static MPI_Op op;
static int length; /* of the vectors of the call under way */

enum { MOST = 200000 };
static unsigned char mine[MOST], got[MOST];

static void add_whole(void *in, void *inout, int *len, MPI_Datatype *type) {
  unsigned char *a = in, *b = inout;
  (void)type;
  if (*len != length)
    b[0] = a[0] = 255; /* no sum of ranks */
  else
    for (int i = 0; i < *len; i++)
      b[i] = (unsigned char)(a[i] + b[i]);
}

static unsigned char sum_to(int last, int i) {
  return (unsigned char)((last + 1) * (last + 2) / 2 + i * (last + 1));
}

static void check_result(int has, int last) {
  int wrong = 0;
  for (int i = 0; has && i < length; i++)
    wrong += got[i] != sum_to(last, i);
  RGT_INT(wrong, 0);
}

static void run_all(int n) {
  length = n;
  for (int i = 0; i < n; i++)
    mine[i] = (unsigned char)(rgt_rank + 1 + i);
  RGT_OK(rg_allreduce(g, mine, got, n, MPI_BYTE, op));
  check_result(1, rgt_size - 1);
  RGT_OK(rg_reduce(g, mine, got, n, MPI_BYTE, op, rgt_size / 2));
  check_result(rgt_rank == rgt_size / 2, rgt_size - 1);
  RGT_OK(rg_scan(g, mine, got, n, MPI_BYTE, op));
  check_result(1, rgt_rank);
  RGT_OK(rg_exscan(g, mine, got, n, MPI_BYTE, op));
  check_result(rgt_rank > 0, rgt_rank - 1);
}

static void run_lengths(void) {
  static const int lengths[] = {1, 24, 64, 65, 1000, 65536, 65537, MOST};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    run_all(lengths[i]);
}

/* An algorithm that divides the vector is not taken although it is asked for. */
static void run_forced(void) {
  static const char *const names[] = {"rabenseifner", "ring", "shared"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    RGT_OK(rg_group_set_algorithm(g, RG_OP_ALLREDUCE, names[i]));
    if (strcmp(names[i], "ring") != 0)
      RGT_OK(rg_group_set_algorithm(g, RG_OP_REDUCE, names[i]));
    run_lengths();
  }
}

/* Without the group's shared buffer too. */
static void test_full_arena(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&g));
  MPI_Op_create(add_whole, 1, &op);
  RGT_OK(rg_barrier(g));
  rgt_full_arena_fill(0, 1);
  run_all(24);
  run_all(57);
  run_all(1000);
  rgt_full_arena_empty();
  run_all(1000);
  MPI_Op_free(&op);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

static void test_whole(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&g));
  MPI_Op_create(add_whole, 1, &op);
  run_lengths();
  run_forced();
  MPI_Op_free(&op);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"full arena", test_full_arena}, {"whole", test_whole}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_whole", tests);
}
