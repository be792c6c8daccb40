/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The check of what is done to windows: every kind of batch is right in each store, and damage to
 * the target's memory, in the patch or beside it, is found.
 * ranks: 1 2 3
 * sources: tests/bench/windows.c tests/bench/windows_check.c
 * sources: tests/bench/preload.c tests/bench/verify.c */
#include <mpi.h>
#include <stdio.h>

#include "check.h"
#include "tests/bench/windows.h"

enum { RUNS = 2 };

static bench_place world;

static int goes_right(bench_windows *w, bench_windows_store store, bench_windows_kind kind,
                      int batch) {
  bench_windows_work k = {.windows = w, .store = store, .kind = kind, .batch = batch};
  const char *wrong = bench_windows_work_begin(&k);
  for (int i = 0; i < RUNS && !wrong; i++) {
    wrong = bench_windows_run(&k);
    if (!wrong)
      wrong = bench_windows_check(&k);
  }
  bench_windows_work_end(&k);
  return !wrong;
}

/* Element `at` of spot 1 in the last rank's memory is changed after a right batch. */
static int finds_damage(bench_windows *w, bench_windows_kind kind, int at) {
  bench_windows_work k = {.windows = w, .store = BENCH_WINDOWS_MEMORY, .kind = kind, .batch = 4};
  double *area = (double *)(w->reached + 64) + w->target.area;
  const char *wrong = bench_windows_work_begin(&k);
  if (!wrong)
    wrong = bench_windows_run(&k);
  area[at] += 1;
  int found = !wrong && bench_windows_check(&k);
  bench_windows_work_end(&k);
  return found;
}

static void check_shape(bench_windows_shape shape, int n) {
  bench_windows w;
  RGT_TRUE(!bench_windows_begin(&w, &world, shape, n));
  for (int store = 0; store < BENCH_WINDOWS_STORES && rgt_rank == 0; store++)
    for (int kind = BENCH_WINDOWS_PUT; kind <= BENCH_WINDOWS_READ; kind++)
      for (int batch = 1; batch <= 6; batch += 5)
        RGT_TRUE(goes_right(&w, (bench_windows_store)store, (bench_windows_kind)kind, batch));
  for (int kind = BENCH_WINDOWS_PUT; kind <= BENCH_WINDOWS_READ && rgt_rank == 0; kind++) {
    RGT_TRUE(finds_damage(&w, (bench_windows_kind)kind, w.target.first));
    RGT_TRUE(finds_damage(&w, (bench_windows_kind)kind, w.target.area - 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bench_windows_end(&w);
}

static void test_data(void) {
  check_shape(BENCH_WINDOWS_DENSE, 1);
  check_shape(BENCH_WINDOWS_DENSE, 1000);
  check_shape(BENCH_WINDOWS_SUBARRAY, 0);
  check_shape(BENCH_WINDOWS_NEW_TYPES, 0);
}

static void test_counters(void) {
  bench_windows w;
  RGT_TRUE(!bench_windows_begin(&w, &world, BENCH_WINDOWS_NONE, 1));
  for (int store = 0; store < BENCH_WINDOWS_STORES && rgt_rank == 0; store++) {
    RGT_TRUE(goes_right(&w, (bench_windows_store)store, BENCH_WINDOWS_FETCH, 5));
    RGT_TRUE(goes_right(&w, (bench_windows_store)store, BENCH_WINDOWS_SWAP, 5));
    /* The counters are not where these begin. */
    RGT_TRUE(!goes_right(&w, (bench_windows_store)store, BENCH_WINDOWS_FETCH, 5));
    RGT_TRUE(!goes_right(&w, (bench_windows_store)store, BENCH_WINDOWS_SWAP, 5));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bench_windows_end(&w);
}

static void test_calls(void) {
  bench_windows w;
  RGT_TRUE(!bench_windows_begin(&w, &world, BENCH_WINDOWS_NONE, 1));
  for (int kind = BENCH_WINDOWS_FLUSH; kind <= BENCH_WINDOWS_ALLOCATE; kind++)
    for (int store = 0; store < BENCH_WINDOWS_MEMORY; store++)
      RGT_TRUE(goes_right(&w, (bench_windows_store)store, (bench_windows_kind)kind, 3));
  bench_windows_end(&w);
}

static void test_all(void) {
  world = (bench_place){
      .ranks = rgt_size, .member = 1, .rank = rgt_rank, .nodes = 1, .comm = MPI_COMM_WORLD};
  test_data();
  test_counters();
  test_calls();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"windows", test_all}, {NULL, NULL}};
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
  puts("MPI_Compare_and_swap ends a process of Open MPI 4.1 on one node");
  return 77;
#endif
  return rgt_main(argc, argv, "bench_windows", tests);
}
