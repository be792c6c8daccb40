/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The fit of the cost model: what made the times comes back.
 * ranks: 1
 * sources: tests/bench/fit.c */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "tests/bench/fit.h"

#define MOST 64

static unsigned short state[3];

static void seed(void) {
  state[0] = (unsigned short)rgt_seed();
  state[1] = (unsigned short)(rgt_seed() >> 16);
}

static double between(double least, double most) {
  return least * exp(erand48(state) * log(most / least));
}

/* Trees, butterflies and chains of 8 over the sizes that are measured. */
static int make(bench_point points[MOST], const rgi_tuning_level *level) {
  int n = 0;
  points[n++] = (bench_point){3, 0, 0, 0};
  for (double bytes = 8; bytes <= 1 << 20; bytes *= 8) {
    points[n++] = (bench_point){3, 3 * bytes, 0, 0};
    points[n++] = (bench_point){3, 3 * bytes, 3 * bytes, 0};
    points[n++] = (bench_point){7, 7 * bytes, 0, 0};
    points[n++] = (bench_point){6, 14.0 / 8 * bytes, 7.0 / 8 * bytes, 0};
  }
  for (int i = 0; i < n; i++)
    points[i].seconds = bench_fit_predict(level, &points[i]);
  return n;
}

static rgi_tuning_level some_level(void) {
  return (rgi_tuning_level){between(1e-8, 1e-4), between(1e-10, 1e-9), between(1e-10, 1e-9)};
}

static void expect(const rgi_tuning_level *found, const rgi_tuning_level *level, double tolerance) {
  RGT_DBL(found->ts / level->ts, 1, tolerance);
  RGT_DBL(found->tw / level->tw, 1, tolerance);
  RGT_DBL(found->tc / level->tc, 1, tolerance);
}

static void test_exact(void) {
  bench_point p[MOST];
  bench_fit fit;
  for (int i = 0; i < 300; i++) {
    rgi_tuning_level l = some_level();
    int n = make(p, &l);
    RGT_TRUE(bench_fit_level(n, p, &fit));
    expect(&fit.level, &l, 1e-3);
    RGT_INT(fit.n, n);
    RGT_INT(fit.within_two, n);
    RGT_DBL(fit.worst, 1, 1e-3);
    RGT_TRUE(fit.typical >= 1 && fit.typical <= fit.worst);
  }
}

static double deviation(const rgi_tuning_level *level, int n, const bench_point points[]) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += fabs(log(bench_fit_predict(level, &points[i]) / points[i].seconds));
  return sum / n;
}

/* One measurement in seven, of all kinds in turn, is out by a factor of 50: the
 * others decide. Where a cost shows in few of these, it may give way to the others;
 * never is the fit worse than the truth. */
static void test_outliers(void) {
  bench_point p[MOST];
  bench_fit fit;
  for (int i = 0; i < 100; i++) {
    rgi_tuning_level l = some_level();
    int n = make(p, &l), spoilt = 0;
    for (int k = i % 7; k < n; k += 7, spoilt++)
      p[k].seconds *= 50;
    RGT_TRUE(bench_fit_level(n, p, &fit));
    RGT_TRUE(deviation(&fit.level, n, p) <= deviation(&l, n, p) + 1e-3);
    RGT_DBL(fit.level.ts / l.ts, 1, 0.05);
    RGT_TRUE(fit.within_two >= n - 2 * spoilt && fit.within_two < n);
    RGT_TRUE(fit.typical < 1.05 && fit.worst > 10);
  }
}

/* Noise of 10 % either way. */
static void test_noise(void) {
  bench_point p[MOST];
  bench_fit fit;
  for (int i = 0; i < 100; i++) {
    rgi_tuning_level l = some_level();
    int n = make(p, &l);
    for (int k = 0; k < n; k++)
      p[k].seconds *= between(1 / 1.1, 1.1);
    RGT_TRUE(bench_fit_level(n, p, &fit));
    RGT_INT(fit.within_two, n);
    RGT_TRUE(fit.worst < 1.3);
  }
}

/* Nothing combined: that cost stays 0; and no measurements at all. */
static void test_unknown(void) {
  bench_point p[2] = {{2, 0, 0, 2e-6}, {2, 1000, 0, 3e-6}};
  bench_fit fit;
  RGT_TRUE(bench_fit_level(2, p, &fit));
  RGT_DBL(fit.level.ts, 1e-6, 1e-9);
  RGT_DBL(fit.level.tw, 1e-9, 1e-12);
  RGT_DBL(fit.level.tc, 0, 0);
  RGT_INT(bench_fit_level(0, p, &fit), 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"exact times", test_exact},
                                   {"outliers", test_outliers},
                                   {"noise", test_noise},
                                   {"unknown costs", test_unknown},
                                   {NULL, NULL}};
  seed();
  return rgt_main(argc, argv, "bench_fit", tests);
}
