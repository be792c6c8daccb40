/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * env: RG_TIMEOUT=60
 * ranks: 1 2 3 4 7 16
 * sources: tests/collectives/cases.c
 * Sums that have the same bits however the operands are divided. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/collectives/cases.h"

#define N 3000

static double x[N];

/* Operands of all magnitudes and both signs. */
static double draw_double(int spread) {
  double m = (double)draw(1 << 30) / (1 << 29) - 1;
  return ldexp(m, draw(2 * spread + 1) - spread);
}

/* The part of 0 .. n-1 that this rank has: cut at drawn places. */
static void draw_part(int rank, int size, int n, int *low, int *high) {
  int cuts[RANKS_MOST + 1];
  cuts[0] = 0;
  cuts[size] = n;
  for (int i = 1; i < size; i++)
    cuts[i] = draw(n + 1);
  for (int i = 1; i < size; i++) /* in order */
    for (int j = i; j > 1 && cuts[j] < cuts[j - 1]; j--) {
      int t = cuts[j];
      cuts[j] = cuts[j - 1];
      cuts[j - 1] = t;
    }
  *low = cuts[rank];
  *high = cuts[rank + 1];
}

static int same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static double sum_of_part(int low, int high) {
  double sum = -1;
  RGT_OK(rg_sum_reproducible(groups[WORLD], x + low, high - low, &sum));
  return sum;
}

/* One rank with all operands gives the reference. */
static double reference(int n) {
  return rgt_rank == 0 ? sum_of_part(0, n) : sum_of_part(0, 0);
}

static void test_divided(void) {
  static const int spreads[] = {0, 10, 60, 500, 1000};
  draw_start(3);
  for (int turn = 0; turn < 15; turn++) {
    for (int i = 0; i < N; i++)
      x[i] = draw_double(spreads[turn % 5]);
    double want = reference(N);
    for (int way = 0; way < 4; way++) {
      int low, high;
      draw_part(rgt_rank, rgt_size, N, &low, &high);
      RGT_TRUE(same_bits(sum_of_part(low, high), want));
    }
  }
}

/* The exact sum, rounded once: against integers, and where rounding is hard. */
static void expect_sum(int n, double want) {
  RGT_TRUE(same_bits(reference(n), want));
}

static void test_exact(void) {
  draw_start(4);
  for (int turn = 0; turn < 20; turn++) { /* multiples of 2^-40 below 2^20: in 128 bits */
    __int128 exact = 0;
    for (int i = 0; i < 500; i++) {
      long long v = ((long long)draw(1 << 30) << 30 | draw(1 << 30)) * (draw(2) ? 1 : -1);
      v = v >> 8; /* fits into 53 bits */
      exact += v;
      x[i] = ldexp((double)v, -40);
    }
    expect_sum(500, ldexp((double)exact, -40));
  }
  const double cases[][5] = {
      {1, 0x1p-53, 0, 0, 1},                     /* a tie goes to even */
      {1, 0x1p-53, 0x1p-1074, 0, 1 + 0x1p-52},   /* a little more than a tie */
      {1 + 0x1p-52, 0x1p-53, 0, 0, 1 + 0x1p-51}, /* a tie, odd */
      {DBL_MAX, -DBL_MAX, 0x1p-1074, 0, 0x1p-1074},
      {DBL_MAX, DBL_MAX, -DBL_MAX, 0, DBL_MAX}, /* no overflow on the way */
      {DBL_MAX, DBL_MAX, 0, 0, HUGE_VAL},
      {DBL_MAX, 0x1p970, 0, 0, HUGE_VAL}, /* rounds up to infinity */
      {DBL_MAX, 0x1p969, 0, 0, DBL_MAX},
      {-0x1p-1074, -0x1p-1074, 0, 0, -0x1p-1073},
      {0x1p-1022, -0x1p-1074, 0, 0, 0x1p-1022 - 0x1p-1074},
      {-0.0, -0.0, 0, 0, 0},
      {1e300, -1e300, 1e-300, 0, 1e-300},
      {HUGE_VAL, 1, 0, 0, HUGE_VAL},
      {-HUGE_VAL, DBL_MAX, 0, 0, -HUGE_VAL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    memcpy(x, cases[i], 4 * sizeof *x);
    expect_sum(4, cases[i][4]);
  }
  expect_sum(0, 0);
  x[0] = HUGE_VAL, x[1] = -HUGE_VAL;
  RGT_TRUE(isnan(reference(2)));
  x[0] = (double)NAN, x[1] = 1;
  RGT_TRUE(isnan(reference(2)));
}

static void test_float(void) {
  static float f[N];
  float want, sum;
  draw_start(5);
  for (int i = 0; i < N; i++)
    f[i] = (float)draw_double(60);
  RGT_OK(rg_sum_reproducible_float(groups[WORLD], f, rgt_rank ? 0 : N, &want));
  for (int way = 0; way < 4; way++) {
    int low, high;
    draw_part(rgt_rank, rgt_size, N, &low, &high);
    RGT_OK(rg_sum_reproducible_float(groups[WORLD], f + low, high - low, &sum));
    RGT_TRUE(memcmp(&sum, &want, sizeof sum) == 0);
  }
  f[0] = 1, f[1] = 0x1p-24f, f[2] = 0x1p-149f; /* twice rounded it would be 1 */
  RGT_OK(rg_sum_reproducible_float(groups[WORLD], f, rgt_rank ? 0 : 3, &sum));
  RGT_TRUE(sum == 1 + 0x1p-23f);
  f[0] = FLT_MAX, f[1] = FLT_MAX;
  RGT_OK(rg_sum_reproducible_float(groups[WORLD], f, rgt_rank ? 0 : 2, &sum));
  RGT_TRUE(isinf(sum));
}

/* Where the processor takes denormal numbers for 0, as -ffast-math has it. Those are as large as
 * their bits. */
static void test_flushed(void) {
#ifdef __SSE2__
  const uint64_t of_doubles[2] = {5, (uint64_t)1 << 40}, all = (uint64_t)rgt_size;
  const uint32_t of_floats[2] = {3, 1 << 10};
  double doubles[2], sum;
  float floats[2], sum_of_floats;
  uint64_t bits;
  uint32_t bits_of_float;
  unsigned before = __builtin_ia32_stmxcsr();
  memcpy(doubles, of_doubles, sizeof doubles);
  memcpy(floats, of_floats, sizeof floats);
  __builtin_ia32_ldmxcsr(before | 0x8040);
  int error = rg_sum_reproducible(groups[WORLD], doubles, 2, &sum);
  int error_of_floats = rg_sum_reproducible_float(groups[WORLD], floats, 2, &sum_of_floats);
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  RGT_OK(error);
  RGT_OK(error_of_floats);
  RGT_TRUE((after & 0x8040) == 0x8040);
  memcpy(&bits, &sum, sizeof bits);
  memcpy(&bits_of_float, &sum_of_floats, sizeof bits_of_float);
  RGT_TRUE(bits == all * (of_doubles[0] + of_doubles[1]));
  RGT_TRUE(bits_of_float == (uint32_t)all * (of_floats[0] + of_floats[1]));
#endif
}

static void test_columns(void) {
  double sums[3], want[3], bad = 0;
  int low, high;
  draw_start(6);
  for (int i = 0; i < N; i++)
    x[i] = draw_double(100);
  RGT_OK(rg_sums_reproducible(groups[WORLD], x, rgt_rank ? 0 : N / 3, 3, want));
  draw_part(rgt_rank, rgt_size, N / 3, &low, &high);
  RGT_OK(rg_sums_reproducible(groups[SHUFFLED], x + 3 * low, high - low, 3, sums));
  RGT_TRUE(memcmp(sums, want, sizeof sums) == 0);
  RGT_FAILS(rg_sum_reproducible(groups[WORLD], NULL, 1, &bad), RG_ERR_ARG);
  RGT_FAILS(rg_sum_reproducible(groups[WORLD], x, -1, &bad), RG_ERR_ARG);
  RGT_FAILS(rg_sum_reproducible(NULL, x, 1, &bad), RG_ERR_GROUP);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start_groups},
                                   {"however divided", test_divided},
                                   {"exact, rounded once", test_exact},
                                   {"floats", test_float},
                                   {"denormal numbers flushed", test_flushed},
                                   {"columns", test_columns},
                                   {"stop", stop_groups},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_reproducible", tests);
}
