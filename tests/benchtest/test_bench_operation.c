/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How regroup-bench calls a collective: how often, with which root, in which buffers, and whether
 * the calls are timed alone.
 * ranks: 1 2 3 4 7
 * sources: tests/bench/operation.c tests/bench/settings.c tests/bench/verify.c */
#include <mpi.h>
#include <string.h>

#include "check.h"
#include "tests/bench/operation.h"

static rg_group world;

/* A gather, by the library or by MPI, of 8 bytes that are rank + 1. */
static void begin(bench_operation *operation, bench_timing timing, int ours) {
  RGT_TRUE(bench_operation_begin(operation, RG_OP_GATHER, MPI_COMM_WORLD, NULL, 8, timing));
  operation->group = ours ? world : NULL;
  for (int i = 0; i < BENCH_BUFFERS && operation->send[i]; i++)
    memset(operation->send[i], rgt_rank + 1, 8);
}

/* In how many of the buffers a gather has arrived, and whether it is all right. */
static int count_gathered(const bench_operation *operation) {
  int n = 0;
  for (int i = 0; i < BENCH_BUFFERS && operation->receive[i]; i++) {
    n += operation->receive[i][0] != 0;
    for (int k = 0; k < 8 * rgt_size && operation->receive[i][0]; k++)
      RGT_INT(operation->receive[i][k], k / 8 + 1);
  }
  return n;
}

/* Only rank 0 is a root, and there is one buffer. */
static void test_fixed(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  static const bench_timing timing[] = {BENCH_EACH, BENCH_STREAM};
  for (int i = 0; i < 4; i++) {
    bench_operation o;
    begin(&o, timing[i / 2], i % 2);
    RGT_STR(bench_operation_run(&o) ? "failed" : "", "");
    RGT_INT(count_gathered(&o), rgt_rank == 0);
    RGT_INT(o.batch, 64);
    RGT_TRUE(timing[i / 2] == BENCH_EACH ? o.turn > o.batch : o.turn == o.batch);
    RGT_TRUE(timing[i / 2] == BENCH_EACH ? o.spent > 0 : o.spent == 0);
    RGT_STR(bench_operation_run_marked(&o) ? "failed" : "", "");
    RGT_STR(bench_operation_verify(&o) ? "wrong" : "", "");
    bench_operation_end(&o);
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Every rank is a root in turn, and so many calls use all buffers. */
static void test_rotating(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int ours = 0; ours < 2; ours++) {
    bench_operation o;
    begin(&o, BENCH_ROTATING, ours);
    RGT_STR(bench_operation_run(&o) ? "failed" : "", "");
    RGT_INT(o.turn, 16);
    RGT_TRUE(count_gathered(&o) > 0);
    bench_operation_end(&o);
    begin(&o, BENCH_ONCE, ours);
    RGT_STR(bench_operation_run(&o) ? "failed" : "", "");
    RGT_INT(o.turn, 1);
    RGT_INT(count_gathered(&o), rgt_rank == 0);
    bench_operation_end(&o);
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static void test_calls(void) {
  static const int bytes[] = {0, 8, 4096, 4097, 16384, 65536, 262144, 1 << 22, 1 << 30};
  static const int fixed[] = {64, 64, 64, 64, 64, 16, 4, 4, 4};
  for (int i = 0; i < 9; i++) {
    RGT_INT(bench_operation_batch(bytes[i], BENCH_ROTATING), bytes[i] <= 4096 ? 16 : 1);
    RGT_INT(bench_operation_batch(bytes[i], BENCH_ONCE), 1);
    RGT_INT(bench_operation_batch(bytes[i], BENCH_EACH), fixed[i]);
    RGT_INT(bench_operation_batch(bytes[i], BENCH_STREAM), fixed[i]);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"one root, one buffer", test_fixed},
                                   {"rotating", test_rotating},
                                   {"how many calls", test_calls},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_operation", tests);
}
