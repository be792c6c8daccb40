/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * When one measurement is slower than another.
 * ranks: 1
 * sources: tests/bench/verdict.c */
#include <stddef.h>

#include "check.h"
#include "tests/bench/verdict.h"

static void check(bench_time a, bench_time b, double threshold, bench_verdict expected) {
  static const bench_verdict other_way[] = {
      [BENCH_SAME] = BENCH_SAME, [BENCH_FASTER] = BENCH_SLOWER, [BENCH_SLOWER] = BENCH_FASTER};
  RGT_INT(bench_judge(&a, &b, threshold), expected);
  RGT_INT(bench_judge(&b, &a, threshold), other_way[expected]);
}

static void test_intervals(void) {
  check((bench_time){10, 9, 11}, (bench_time){20, 11.5, 30}, 0, BENCH_SLOWER);
  check((bench_time){10, 9, 11}, (bench_time){20, 11, 30}, 0, BENCH_SAME); /* they touch */
  check((bench_time){10, 9, 11}, (bench_time){20, 8, 30}, 0, BENCH_SAME);
  check((bench_time){10, 9, 11}, (bench_time){5, 4, 8}, 0, BENCH_FASTER);
  check((bench_time){10, 9, 11}, (bench_time){10, 9, 11}, 0, BENCH_SAME);
}

static void test_threshold(void) {
  bench_time a = {100, 100, 100}, b = {110, 110, 110};
  check(a, b, 0, BENCH_SLOWER);
  check(a, b, 0.09, BENCH_SLOWER);
  check(a, b, 0.11, BENCH_SAME);
}

static void test_names(void) {
  RGT_STR(bench_verdict_name[BENCH_SAME], "same");
  RGT_STR(bench_verdict_name[BENCH_FASTER], "faster");
  RGT_STR(bench_verdict_name[BENCH_SLOWER], "slower");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"intervals", test_intervals},
                                   {"threshold", test_threshold},
                                   {"names", test_names},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_verdict", tests);
}
