/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Diagnostics, against sequences whose properties are known.
 * Seeds are fixed: nothing here fails by chance.
 * ranks: 1
 * sources: examples/posterior/estimate.c */
#include <math.h>
#include <regroup/random.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "examples/posterior/estimate.h"

enum { CHAINS = 8, DRAWS = 4000, ALL = CHAINS * DRAWS };

static double x[ALL];

static void draw_normals(uint64_t seed, int walker, int step, int n, double out[]) {
  rg_random r = {.seed = seed, .walker = (uint64_t)walker, .step = (uint64_t)step};
  RGT_OK(rg_random_normal(&r, n, out));
}

/* x[i] = rho x[i-1] + noise, of variance 1. */
static void autoregressive(double rho, uint64_t seed) {
  for (int c = 0; c < CHAINS; c++) {
    double before, z;
    draw_normals(seed, c, 0, 1, &before);
    for (int i = 0; i < DRAWS; i++) {
      draw_normals(seed, c, i + 1, 1, &z);
      before = rho * before + sqrt(1 - rho * rho) * z;
      x[c * DRAWS + i] = before;
    }
  }
}

/* The effective sizes are N (1 - rho) / (1 + rho) for the mean, and the same with
 * rho^2 for the squares. */
static void test_effective_size(void) {
  static const double rho[] = {-0.5, 0, 0.3, 0.8, 0.9};
  for (int i = 0; i < 5; i++) {
    post_estimate mean, variance;
    double r = rho[i], expected = ALL * (1 - r) / (1 + r), r2 = r * r;
    autoregressive(r, (uint64_t)i + 1);
    RGT_TRUE(post_estimate_mean(x, CHAINS, DRAWS, &mean));
    RGT_TRUE(post_estimate_variance(x, CHAINS, DRAWS, &variance));
    RGT_DBL(mean.ess, expected, 0.2 * expected);
    expected = ALL * (1 - r2) / (1 + r2);
    RGT_DBL(variance.ess, expected, 0.2 * expected);
    RGT_DBL(mean.sd, 1, 0.1);
    RGT_DBL(mean.mcse, mean.sd / sqrt(mean.ess), 1e-12);
    RGT_DBL(mean.mean, 0, 4 * mean.mcse);
    RGT_DBL(variance.mean, 1, 4 * variance.mcse);
    RGT_DBL(mean.rhat, 1, 0.01);
  }
}

/* Over many seeds the mean is as far from 0 as its standard error says. */
static void test_standard_error(void) {
  enum { SEEDS = 60 };
  double squares = 0;
  for (int seed = 0; seed < SEEDS; seed++) {
    post_estimate e;
    autoregressive(0.6, (uint64_t)seed + 100);
    RGT_TRUE(post_estimate_mean(x, CHAINS, DRAWS, &e));
    squares += e.mean * e.mean / (e.mcse * e.mcse);
  }
  RGT_DBL(squares / SEEDS, 1, 0.5);
}

/* A chain elsewhere, and chains that drift, are noticed. For chains of variance 1
 * whose halves' means have the variance b, R-hat is sqrt(1 + b). */
static void test_rhat(void) {
  post_estimate e;
  autoregressive(0, 7);
  for (int i = 0; i < DRAWS; i++)
    x[i] += 2;
  RGT_TRUE(post_estimate_mean(x, CHAINS, DRAWS, &e));
  RGT_DBL(e.rhat, sqrt(1 + 4.0 * 2 * 14 / 16 / 15), 0.01);
  RGT_TRUE(e.ess < 1000);
  autoregressive(0, 7);
  for (int i = 0; i < ALL; i++)
    x[i] += i % DRAWS < DRAWS / 2 ? 0 : 1;
  RGT_TRUE(post_estimate_mean(x, CHAINS, DRAWS, &e));
  RGT_DBL(e.rhat, sqrt(1 + 0.25 * 16 / 15), 0.01);
}

static void test_degenerate(void) {
  post_estimate e;
  for (int i = 0; i < ALL; i++)
    x[i] = 3;
  RGT_TRUE(post_estimate_mean(x, CHAINS, DRAWS, &e));
  RGT_DBL(e.mean, 3, 0);
  RGT_DBL(e.rhat, 1, 0);
  for (int i = 0; i < ALL; i++)
    x[i] = i / DRAWS;
  RGT_TRUE(post_estimate_mean(x, CHAINS, DRAWS, &e));
  RGT_TRUE(isinf(e.rhat) && e.ess == 0);
  /* An odd number of draws: the middle one is in the mean, in neither half. */
  double five[] = {1, 2, 100, 2, 1, 1, 2, 100, 2, 1};
  RGT_TRUE(post_estimate_mean(five, 2, 5, &e));
  RGT_DBL(e.mean, 21.2, 1e-12);
  RGT_DBL(e.rhat, sqrt(0.5), 1e-12);
}

/* --- the check ---------------------------------------------------------------------------- */

static post_estimate_line good_line(void) {
  post_estimate e = {.mean = 1, .sd = 1, .rhat = 1.005, .ess = 20000, .mcse = 0.007};
  return (post_estimate_line){
      .label = "q", .mean = e, .variance = e, .mean_off = 3.9, .sd_off = -3.9};
}

static void test_check(void) {
  post_estimate_line line[2] = {good_line(), good_line()};
  RGT_INT(post_estimate_check(line, 2, NULL), 0);
  line[0].mean_off = -4.1;
  RGT_INT(post_estimate_check(line, 2, NULL), 1);
  line[1].sd_off = 4.1;
  RGT_INT(post_estimate_check(line, 2, NULL), 2);
  line[0] = line[1] = good_line();
  line[1].variance.ess = 9999;
  RGT_INT(post_estimate_check(line, 2, NULL), 1);
  line[1] = good_line();
  line[1].mean.rhat = 1.011;
  RGT_INT(post_estimate_check(line, 2, NULL), 1);
  line[1] = good_line();
  line[1].mean_off = NAN;
  RGT_INT(post_estimate_check(line, 2, NULL), 1);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"effective size", test_effective_size},
                                   {"standard error", test_standard_error},
                                   {"R-hat", test_rhat},
                                   {"degenerate", test_degenerate},
                                   {"check", test_check},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "posterior_diagnostics", tests);
}
