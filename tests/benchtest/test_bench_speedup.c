/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Speedup, overhead and the laws, against closed forms.
 * ranks: 1
 * sources: tests/bench/speedup.c */
#include <math.h>
#include <stddef.h>

#include "check.h"
#include "tests/bench/speedup.h"

#define U BENCH_UNKNOWN

static const int ps[] = {1, 2, 3, 4, 8, 16, 100};
enum { N = sizeof ps / sizeof ps[0] };

static bench_run at(int p, double seconds, double work) {
  return (bench_run){p, seconds, work, U, U, U};
}

/* A program with a serial part f: Amdahl's law gives it back, and so does Karp and
 * Flatt's formula at each p. */
static void test_amdahl(void) {
  for (double f = 0; f <= 1; f += 0.125) {
    bench_run r[N];
    bench_measures m[N];
    bench_scaling s;
    for (int i = 0; i < N; i++)
      r[i] = at(ps[i], 42 * (f + (1 - f) / ps[i]), 1);
    bench_speedup(N, r, 0, m, &s);
    RGT_DBL(s.amdahl.f, f, 1e-12);
    RGT_DBL(s.amdahl.residual, 0, 1e-12);
    RGT_DBL(s.sequential, 42, 1e-12);
    RGT_TRUE(s.strong && !s.estimated);
    RGT_INT(s.cost_optimal, f == 0);
    RGT_TRUE((s.gustafson.residual < 1e-12) == (f == 0 || f == 1));
    for (int i = 0; i < N; i++) {
      double p = ps[i];
      RGT_DBL(m[i].speedup, p / (1 + (p - 1) * f), 1e-12 * p);
      RGT_DBL(m[i].efficiency, 1 / (1 + (p - 1) * f), 1e-12);
      RGT_DBL(m[i].cost, 42 * (1 + (p - 1) * f), 1e-10 * p);
      RGT_DBL(m[i].overhead, 42 * (p - 1) * f, 1e-10 * p);
      RGT_INT(m[i].super_linear, 0);
      if (p > 1)
        RGT_DBL(m[i].karp_flatt, f, 1e-12);
      else
        RGT_TRUE(isnan(m[i].karp_flatt));
    }
  }
}

/* The serial part stays, the parallel one grows with p: Gustafson. Five per cent on
 * 20 processes: 19.05, where Amdahl has 10.26. */
static void test_gustafson(void) {
  for (double f = 0; f <= 1; f += 0.125) {
    bench_run r[N];
    bench_measures m[N];
    bench_scaling s;
    for (int i = 0; i < N; i++)
      r[i] = at(ps[i], 7, f + (1 - f) * ps[i]);
    bench_speedup(N, r, 0, m, &s);
    RGT_DBL(s.gustafson.f, f, 1e-12);
    RGT_DBL(s.gustafson.residual, 0, 1e-12);
    RGT_INT(s.strong, f == 1);
    if (f == 0 || f == 1)
      RGT_INT(s.cost_optimal, f == 0);
    for (int i = 0; i < N; i++)
      RGT_DBL(m[i].speedup, ps[i] + (1 - ps[i]) * f, 1e-12 * ps[i]);
  }
  RGT_DBL(bench_gustafson(0.05, 20), 19.05, 1e-12);
  RGT_DBL(bench_amdahl(0.05, 20), 10.26, 0.005);
}

/* Exactly where S > p, and never by rounding. */
static void test_super_linear(void) {
  bench_run r[] = {at(1, 12, 1), at(2, 6, 1), at(3, 4, 1), at(4, 2.9, 1), at(8, 1.6, 1)};
  bench_measures m[5];
  bench_scaling s;
  bench_speedup(5, r, 0, m, &s);
  for (int i = 0; i < 5; i++)
    RGT_INT(m[i].super_linear, r[i].p == 4);
  RGT_TRUE(m[3].karp_flatt < 0 && m[3].overhead < 0);
  for (int i = 1; i < 5; i++)
    r[i].seconds = 0.1 / r[i].p;
  r[0].seconds = 0.1;
  bench_speedup(5, r, 0, m, &s);
  for (int i = 0; i < 5; i++)
    RGT_INT(m[i].super_linear, 0);
}

/* Adding n numbers (Grama et al., 5.4): with n / p + lg p steps the cost is
 * optimal, with (n / p) lg p it is not. */
static void test_cost(void) {
  bench_run r[7];
  bench_measures m[7];
  bench_scaling s;
  double n = 1 << 20;
  for (int i = 0; i < 7; i++)
    r[i] = at(1 << i, n / (1 << i) + i, 1);
  bench_speedup(7, r, 0, m, &s);
  RGT_TRUE(s.cost_optimal);
  for (int i = 0; i < 7; i++)
    r[i] = at(1 << i, n / (1 << i) * (i ? i : 1), 1);
  bench_speedup(7, r, 0, m, &s);
  RGT_TRUE(!s.cost_optimal);
  for (int i = 0; i < 7; i++) /* cost ~ p^0.5 */
    r[i] = at(1 << i, pow(2, -0.5 * i), 1);
  bench_speedup(7, r, 0, m, &s);
  RGT_DBL(s.growth, 0.5, 1e-12);
}

/* 4 processes, 3 s: of 12 processor-seconds 10 are the sequential program's. */
static void test_overhead(void) {
  bench_run r[] = {{1, 10, 1, 10, 0, 0}, {4, 3, 1, 10.25, 0.5, 1}, {5, 2.5, 1, 10, U, 1}};
  bench_measures m[3];
  bench_scaling s;
  bench_speedup(3, r, 0, m, &s);
  RGT_DBL(m[1].overhead, 2, 1e-12);
  RGT_DBL(m[1].communication, 0.5, 0);
  RGT_DBL(m[1].idle, 1, 0);
  RGT_DBL(m[1].extra, 0.25, 1e-12);
  RGT_DBL(m[1].rest, 0.25, 1e-12);
  RGT_DBL(m[1].granularity, 20.5, 1e-12);
  RGT_DBL(m[0].granularity, U, 0); /* no communication */
  RGT_DBL(m[0].extra, 0, 1e-12);
  RGT_DBL(m[2].rest, U, 0);
  r[0].computation = 9; /* and waited for a second */
  r[0].idle = 1;
  bench_speedup(3, r, 0, m, &s);
  RGT_DBL(m[1].extra, 1.25, 1e-12);
  RGT_DBL(m[1].rest, -0.75, 1e-12);
  bench_speedup(3, r, 8, m, &s);
  RGT_DBL(m[1].extra, 2.25, 1e-12);
  RGT_DBL(m[2].granularity, U, 0);
}

/* The best sequential program may be faster than ours on one process; and without a
 * run on one the smallest is taken for perfect. */
static void test_sequential(void) {
  bench_run r[] = {at(1, 10, 1), at(2, 5, 1)}, late[] = {at(4, 2, 1), at(8, 1.25, 1)};
  bench_measures m[2];
  bench_scaling s;
  bench_speedup(2, r, 8, m, &s);
  RGT_DBL(m[0].speedup, 0.8, 1e-12);
  RGT_DBL(m[1].speedup, 1.6, 1e-12);
  RGT_DBL(s.sequential, 8, 0);
  bench_speedup(2, late, 0, m, &s);
  RGT_TRUE(s.estimated);
  RGT_DBL(m[0].speedup, 4, 1e-12);
  RGT_DBL(m[1].speedup, 6.4, 1e-12);
  RGT_INT(m[0].super_linear, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"Amdahl", test_amdahl},
                                   {"Gustafson", test_gustafson},
                                   {"super-linear", test_super_linear},
                                   {"cost", test_cost},
                                   {"overhead", test_overhead},
                                   {"sequential time", test_sequential},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_speedup", tests);
}
