/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The benchmark's statistics, against closed forms and brute force.
 * ranks: 1
 * sources: tests/bench/stats.c */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "tests/bench/stats.h"

#define MOST 200

/* 1, 2, ..., n in an order that is not theirs. */
static void test_closed_forms(void) {
  double v[MOST];
  bench_stats s;
  for (int n = 1; n <= MOST; n++) {
    for (int i = 0; i < n; i++)
      v[i] = 1 + (i % 2 ? n - 1 - i / 2 : i / 2);
    RGT_TRUE(bench_stats_of(n, v, &s));
    RGT_INT(s.n, n);
    RGT_DBL(s.min, 1, 0);
    RGT_DBL(s.q1, 1 + (n - 1) / 4.0, 1e-12);
    RGT_DBL(s.median, (n + 1) / 2.0, 1e-12);
    RGT_DBL(s.q3, 1 + 3 * (n - 1) / 4.0, 1e-12);
    RGT_DBL(s.max, n, 0);
    RGT_INT(s.outliers, 0);
    RGT_DBL(s.low + s.high, n + 1, 0);
  }
}

static void test_outliers(void) {
  double v[] = {10, 11, 12, 13, 14, 15, 16, 17, 1000, -1000, 22};
  bench_stats s;
  RGT_TRUE(bench_stats_of(11, v, &s)); /* quartiles 11.5 and 16.5: fences 4 and 24 */
  RGT_INT(s.outliers, 2);
  RGT_DBL(s.median, 14, 0);
}

/* The probability that the order statistics low and n - 1 - low enclose the
 * median: of all 2^n ways to lie below or above it, those with more than low
 * values below and more than low above. */
static double coverage(int n, int low) {
  int good = 0;
  for (unsigned way = 0; way < 1u << n; way++) {
    int below = __builtin_popcount(way);
    good += below > low && n - below > low;
  }
  return good / (double)(1u << n);
}

static void test_interval_by_enumeration(void) {
  int low, high;
  for (int n = 1; n <= 18; n++) {
    bench_median_ranks(n, 0.95, &low, &high);
    RGT_INT(high, n - 1 - low);
    RGT_TRUE(low >= 0 && low <= high);
    RGT_TRUE(coverage(n, low) >= 0.95 || low == 0);
    if (2 * (low + 1) <= n - 1)
      RGT_TRUE(coverage(n, low + 1) < 0.95);
  }
}

/* Ranks from the printed tables of the sign test, 95 %, there counted from 1. */
static void test_interval_tables(void) {
  static const int table[][3] = {{6, 1, 6},   {9, 2, 8},    {10, 2, 9},   {15, 4, 12},  {20, 6, 15},
                                 {25, 8, 18}, {30, 10, 21}, {50, 18, 33}, {100, 40, 61}};
  int low, high;
  for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
    bench_median_ranks(table[i][0], 0.95, &low, &high);
    RGT_INT(low + 1, table[i][1]);
    RGT_INT(high + 1, table[i][2]);
  }
}

static int count_below(int n, const double v[], double x) {
  int below = 0;
  for (int i = 0; i < n; i++)
    below += v[i] < x;
  return below;
}

/* The i-th smallest of distinct values, found by counting. */
static double ith(int n, const double v[], int i) {
  for (int k = 0; k < n; k++)
    if (count_below(n, v, v[k]) == i)
      return v[k];
  return NAN;
}

static double between(int n, const double v[], double at) {
  double low = ith(n, v, (int)floor(at)), high = ith(n, v, (int)ceil(at));
  return low * (1 - (at - floor(at))) + high * (at - floor(at));
}

static void test_random(void) {
  unsigned short state[3] = {(unsigned short)rgt_seed(), (unsigned short)(rgt_seed() >> 16), 1};
  double v[60];
  bench_stats s;
  for (int trial = 0; trial < 200; trial++) {
    int n = 1 + (int)(60 * erand48(state)), low, high, outside = 0;
    for (int i = 0; i < n; i++)
      v[i] = 1 / (erand48(state) + 1e-3); /* a long tail */
    RGT_TRUE(bench_stats_of(n, v, &s));
    RGT_DBL(s.min, ith(n, v, 0), 0);
    RGT_DBL(s.max, ith(n, v, n - 1), 0);
    RGT_DBL(s.median, between(n, v, (n - 1) / 2.0), 1e-9);
    RGT_DBL(s.q1, between(n, v, (n - 1) / 4.0), 1e-9);
    RGT_DBL(s.q3, between(n, v, 3 * (n - 1) / 4.0), 1e-9);
    bench_median_ranks(n, 0.95, &low, &high);
    RGT_DBL(s.low, ith(n, v, low), 0);
    RGT_DBL(s.high, ith(n, v, high), 0);
    for (int i = 0; i < n; i++)
      outside += v[i] > s.q3 + 1.5 * (s.q3 - s.q1) || v[i] < s.q1 - 1.5 * (s.q3 - s.q1);
    RGT_INT(s.outliers, outside);
  }
}

static void test_precision(void) {
  double v[] = {90, 92, 94, 96, 98, 102, 104, 106, 108, 110};
  bench_stats s;
  RGT_TRUE(bench_stats_of(10, v, &s)); /* the interval is from the 2nd to the 9th */
  RGT_DBL(bench_precision(&s), 0.08, 1e-12);
  RGT_TRUE(bench_stats_of(5, v, &s)); /* too few for an interval */
  RGT_TRUE(isinf(bench_precision(&s)));
  RGT_TRUE(bench_stats_of(6, v, &s));
  RGT_TRUE(isfinite(bench_precision(&s)));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"closed forms", test_closed_forms},
                                   {"outliers", test_outliers},
                                   {"interval by enumeration", test_interval_by_enumeration},
                                   {"interval from tables", test_interval_tables},
                                   {"random data", test_random},
                                   {"precision", test_precision},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_stats", tests);
}
