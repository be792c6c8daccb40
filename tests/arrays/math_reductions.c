/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Functions whose result is a number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math_cases.h"
#include "math_suites.h"

#define CASES math_cases(40)

static math_array any(rg_array_type type) {
  int64_t shape[RG_ARRAY_MAX_DIMS];
  int dims = math_shape(shape);
  return math_make(NULL, type, dims, shape);
}

/* A result of a sum: int64_t for integers. */
static double _Complex sum_of(rg_array_type type, const math_scalar *scalar) {
  return math_number(type == RG_TYPE_INT32 ? RG_TYPE_INT64 : type, scalar);
}

void test_sum(void) {
  math_seed(21);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    double _Complex expected = 0;
    math_scalar sum;
    math_patch(&x, lo, hi);
    for (int64_t i = 0, n = math_count(&x, lo, hi); i < n; i++)
      expected += math_at(&x, math_index(&x, lo, hi, i));
    RGT_OK(rg_array_sum(x.a, lo, hi, &sum));
    RGT_TRUE(sum_of(x.type, &sum) == expected);
    math_free(&x);
  }
}

/* 32 bits are added in 64; 64 bits wrap around. */
void test_sum_wraps(void) {
  math_seed(22);
  math_array x = math_make(NULL, RG_TYPE_INT32, 1, (int64_t[]){10});
  math_array y = math_make(NULL, RG_TYPE_INT64, 1, (int64_t[]){10});
  int32_t large = INT32_MAX;
  int64_t larger = INT64_MAX, sum;
  RGT_OK(rg_array_fill(x.a, NULL, NULL, &large));
  RGT_OK(rg_array_fill(y.a, NULL, NULL, &larger));
  RGT_OK(rg_array_sum(x.a, NULL, NULL, &sum));
  RGT_INT(sum, 10 * (int64_t)INT32_MAX);
  RGT_OK(rg_array_sum(y.a, NULL, NULL, &sum));
  RGT_INT(sum, -10);
  RGT_OK(rg_array_dot(x.a, x.a, &sum));
  RGT_INT(sum, (int64_t)(10 * (uint64_t)INT32_MAX * INT32_MAX));
  large = 3;
  RGT_OK(rg_array_scale(x.a, NULL, NULL, &large));
  RGT_OK(rg_array_sum(x.a, NULL, NULL, &sum));
  RGT_INT(sum, 10 * (int64_t)(int32_t)(3 * (uint32_t)INT32_MAX));
  math_free(&y);
  math_free(&x);
}

enum { LEAST, GREATEST, ABSOLUTE = 2 };

/* What elements are compared by. */
static double measure_at(const math_array *array, int64_t i, int which) {
  return which & ABSOLUTE ? cabs(math_at(array, i)) : creal(math_at(array, i));
}

static void check_extreme(const math_array *array, const int64_t lo[], const int64_t hi[],
                          int which) {
  static int (*const call[])(rg_array, const int64_t[], const int64_t[], void *, int64_t[]) = {
      rg_array_min, rg_array_max, rg_array_absmin, rg_array_absmax};
  int64_t n = math_count(array, lo, hi), best = -1, at[RG_ARRAY_MAX_DIMS], index = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t j = math_index(array, lo, hi, i);
    double v = measure_at(array, j, which), b = best < 0 ? 0 : measure_at(array, best, which);
    if (best < 0 || isnan(b) ? !isnan(v) || best < 0 : which & GREATEST ? v > b : v < b)
      best = j;
  }
  math_scalar s;
  int error = call[which](array->a, lo, hi, &s, at);
  if (best < 0) {
    RGT_INT(error, RG_ERR_ARG);
    return;
  }
  RGT_INT(error, RG_SUCCESS);
  for (int d = 0; d < array->dims; d++)
    index = index * array->shape[d] + at[d];
  RGT_INT(index, best);
  double _Complex v = math_number(array->type, &s), b = math_at(array, best);
  RGT_TRUE(v == b || (isnan(creal(v)) && isnan(creal(b))));
}

static void check_extremes(const math_array *array, const int64_t lo[], const int64_t hi[]) {
  if (array->type < RG_TYPE_FLOAT_COMPLEX) {
    check_extreme(array, lo, hi, LEAST);
    check_extreme(array, lo, hi, GREATEST);
  }
  check_extreme(array, lo, hi, ABSOLUTE | LEAST);
  check_extreme(array, lo, hi, ABSOLUTE | GREATEST);
}

void test_extremes(void) {
  math_seed(23);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    math_patch(&x, lo, hi);
    check_extremes(&x, lo, hi);
    math_free(&x);
  }
}

/* NaNs and infinities anywhere; nothing but NaNs; the ends of the integers. */
void test_extremes_nan(void) {
  math_seed(24);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_real_type());
    int64_t lo[RG_ARRAY_MAX_DIMS] = {0};
    for (int64_t i = 0; i < x.n; i++) {
      int64_t what = c % 4 == 0 ? 0 : math_draw(6);
      if (what < 3)
        math_put(&x, i, what == 0 ? (double)NAN : what == 1 ? HUGE_VAL : -HUGE_VAL);
    }
    math_set(&x);
    check_extremes(&x, lo, x.shape);
    math_free(&x);
  }
  math_array y = math_make(NULL, RG_TYPE_INT64, 1, (int64_t[]){30});
  int64_t end[2] = {INT64_MIN, INT64_MAX}, value, at;
  for (int i = 0; i < 2; i++) {
    RGT_OK(rg_array_fill(y.a, NULL, NULL, &end[i]));
    RGT_OK(rg_array_min(y.a, NULL, NULL, &value, &at));
    RGT_TRUE(value == end[i] && at == 0);
    RGT_OK(rg_array_max(y.a, NULL, NULL, &value, NULL));
    RGT_TRUE(value == end[i]);
    RGT_OK(rg_array_absmax(y.a, NULL, NULL, &value, &at));
    RGT_TRUE(value == end[i] && at == 0);
  }
  math_free(&y);
}

static void check_patch_norms(const math_array *array) {
  double expected[3] = {0}, norm;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  math_patch(array, lo, hi);
  for (int64_t i = 0, n = math_count(array, lo, hi); i < n; i++) {
    double m = cabs(math_at(array, math_index(array, lo, hi, i)));
    expected[RG_NORM_1] += m;
    expected[RG_NORM_2] = hypot(expected[RG_NORM_2], m);
    expected[RG_NORM_INFINITY] = fmax(expected[RG_NORM_INFINITY], m);
  }
  for (int kind = RG_NORM_1; kind <= RG_NORM_INFINITY; kind++) {
    RGT_OK(rg_array_norm_patch(array->a, lo, hi, (rg_norm_kind)kind, &norm));
    RGT_DBL(norm, expected[kind], 1e-12 * expected[kind]);
  }
}

static void check_norms(const math_array *array, double tolerance) {
  double one = 0, two = 0, infinity = 0, norm;
  for (int64_t i = 0; i < array->n; i++) {
    double m = cabs(math_at(array, i));
    one += m;
    two = hypot(two, m);
    infinity = m > infinity ? m : infinity;
  }
  RGT_OK(rg_array_norm(array->a, RG_NORM_1, &norm));
  RGT_DBL(norm, one, tolerance * one);
  RGT_OK(rg_array_norm(array->a, RG_NORM_2, &norm));
  RGT_DBL(norm, two, tolerance * two);
  RGT_OK(rg_array_norm(array->a, RG_NORM_INFINITY, &norm));
  RGT_DBL(norm, infinity, tolerance * infinity);
  if (array->type == RG_TYPE_FLOAT || array->type == RG_TYPE_DOUBLE) {
    RGT_OK(rg_array_norm_reproducible(array->a, RG_NORM_1, &norm));
    RGT_DBL(norm, one, tolerance * one);
    RGT_OK(rg_array_norm_reproducible(array->a, RG_NORM_2, &norm));
    RGT_DBL(norm, two, tolerance * two);
    RGT_OK(rg_array_norm_reproducible(array->a, RG_NORM_INFINITY, &norm));
    RGT_TRUE(norm == infinity);
  }
}

void test_norms(void) {
  math_seed(25);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    check_norms(&x, 1e-12);
    check_patch_norms(&x);
    math_free(&x);
  }
}

/* Squares that are no doubles; infinities and NaNs. */
void test_norms_range(void) {
  const double scales[] = {1e200, 1e-200, 0x1p1020, 0x1p-1000};
  math_seed(26);
  for (int c = 0; c < 8; c++) {
    math_array x =
        math_make(NULL, c < 4 ? RG_TYPE_DOUBLE : RG_TYPE_DOUBLE_COMPLEX, 1, (int64_t[]){40});
    for (int64_t i = 0; i < x.n; i++)
      math_put(&x, i, math_at(&x, i) * scales[c % 4] / (c % 4 == 2 ? 64 : 1));
    math_set(&x);
    check_norms(&x, 1e-9);
    math_free(&x);
  }
  math_array x = math_make(NULL, RG_TYPE_DOUBLE, 1, (int64_t[]){40});
  for (int nan = 0; nan < 2; nan++) {
    double value = nan ? (double)NAN : -HUGE_VAL, norm;
    RGT_OK(rg_array_fill(x.a, (int64_t[]){33}, (int64_t[]){34}, &value));
    for (int n = RG_NORM_1; n <= RG_NORM_INFINITY; n++) {
      RGT_OK(rg_array_norm(x.a, (rg_norm_kind)n, &norm));
      RGT_TRUE(nan ? isnan(norm) : norm == HUGE_VAL);
      RGT_OK(rg_array_norm_reproducible(x.a, (rg_norm_kind)n, &norm));
      RGT_TRUE(nan ? isnan(norm) : norm == HUGE_VAL);
    }
  }
  math_free(&x);
}

void test_dot(void) {
  math_seed(27);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type()), y = math_make(NULL, x.type, x.dims, x.shape);
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    double _Complex expected = 0, part = 0;
    math_scalar dot;
    for (int64_t i = 0; i < x.n; i++)
      expected += math_at(&x, i) * math_at(&y, i);
    RGT_OK(rg_array_dot(x.a, y.a, &dot));
    RGT_TRUE(sum_of(x.type, &dot) == expected);
    math_patch(&x, lo, hi);
    for (int64_t i = 0, n = math_count(&x, lo, hi); i < n; i++) {
      int64_t at = math_index(&x, lo, hi, i);
      part += math_at(&x, at) * math_at(&y, at);
    }
    RGT_OK(rg_array_dot_patch(x.a, lo, hi, y.a, lo, hi, &dot));
    RGT_TRUE(sum_of(x.type, &dot) == part);
    math_free(&y);
    math_free(&x);
  }
}

/* --- the same bits ---------------------------------------------------------------------- */

/* Numbers of very different sizes, so that the order of additions matters. */
static void wild(math_array *array, uint64_t seed) {
  math_seed((int)seed);
  for (int64_t i = 0; i < array->n; i++)
    math_put(array, i, ldexp((double)math_draw(1 << 20) - (1 << 19), (int)math_draw(100) - 50) / 3);
  math_set(array);
}

/* On the world, reversed, on every other rank, in any distribution, and on one rank that has all
 * elements: the same sum. */
void test_reproducible(void) {
  double sums[4] = {0}, first[4] = {0};
  const int64_t shape[2] = {23, 11};
  for (int c = 0; c < 12; c++) {
    rg_group g = c % 3 == 0 ? math_world : c % 3 == 1 ? math_reverse : math_even;
    if (!g)
      continue;
    math_seed(300 + c);
    math_array x = math_make(g, RG_TYPE_DOUBLE, 2, shape),
               y = math_make(g, RG_TYPE_DOUBLE, 2, shape);
    wild(&x, 28);
    wild(&y, 29);
    RGT_OK(rg_array_sum_reproducible(x.a, &sums[0]));
    RGT_OK(rg_array_dot_reproducible(x.a, y.a, &sums[1]));
    RGT_OK(rg_array_norm_reproducible(x.a, RG_NORM_1, &sums[2]));
    RGT_OK(rg_array_norm_reproducible(x.a, RG_NORM_2, &sums[3]));
    if (c < 2)
      memcpy(first, sums, sizeof first);
    RGT_INT(memcmp(first, sums, sizeof first), 0);
    rg_group self;
    double alone;
    RGT_OK(rg_group_create(math_world, 1, &rgt_rank, 5, &self));
    RGT_OK(rg_sum_reproducible(self, (const double *)(const void *)x.all, x.n, &alone));
    RGT_TRUE(alone == sums[0]);
    RGT_OK(rg_group_free(&self));
    math_free(&y);
    math_free(&x);
  }
  math_seed(31);
  math_array f = math_make(NULL, RG_TYPE_FLOAT, 2, shape);
  double sum, dot, expected = 0, products = 0;
  for (int64_t i = 0; i < f.n; i++) {
    expected += creal(math_at(&f, i));
    products += creal(math_at(&f, i)) * creal(math_at(&f, i));
  }
  RGT_OK(rg_array_sum_reproducible(f.a, &sum));
  RGT_OK(rg_array_dot_reproducible(f.a, f.a, &dot));
  RGT_TRUE(sum == expected && dot == products);
  math_free(&f);
}

#ifdef __SSE2__
/* Denormal numbers, each as large as its bits: 1, 2, 3, ... */
static void count_bits(math_array *array) {
  for (int64_t i = 0; i < array->n; i++) {
    uint64_t bits = (uint64_t)i + 1;
    memcpy(array->all + (size_t)i * array->element, &bits, array->element);
  }
  math_set(array);
}

/* Where the processor takes denormal numbers for 0, as -ffast-math has it. */
static void sum_flushed(rg_array_type type, double least) {
  const int64_t shape[2] = {23, 11};
  double sums[2];
  int errors[2], wrong;
  unsigned before = __builtin_ia32_stmxcsr();
  math_array x = math_make(NULL, type, 2, shape);
  double all = (double)(x.n * (x.n + 1) / 2) * least;
  count_bits(&x);
  __builtin_ia32_ldmxcsr(before | 0x8040);
  errors[0] = rg_array_sum_reproducible(x.a, &sums[0]);
  errors[1] = rg_array_norm_reproducible(x.a, RG_NORM_1, &sums[1]);
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  RGT_OK(errors[0]);
  RGT_OK(errors[1]);
  wrong = memcmp(&sums[0], &all, sizeof all) || memcmp(&sums[1], &all, sizeof all);
  RGT_INT(wrong, 0);
  RGT_TRUE((after & 0x8040) == 0x8040);
  math_free(&x);
}

void test_flushed(void) {
  math_seed(33);
  sum_flushed(RG_TYPE_DOUBLE, 0x1p-1074);
  sum_flushed(RG_TYPE_FLOAT, 0x1p-149);
}
#else
void test_flushed(void) {
}
#endif

void test_checksum(void) {
  math_seed(32);
  for (int c = 0; c < CASES; c++) {
    int64_t shape[RG_ARRAY_MAX_DIMS];
    int dims = math_shape(shape);
    rg_array_type type = (rg_array_type)math_draw(RG_TYPE_COUNT);
    math_array x = math_make(math_world, type, dims, shape);
    uint64_t sum, other;
    RGT_OK(rg_array_checksum(x.a, &sum));
    /* On another group, in another distribution; members of it only. */
    if (math_even) {
      math_seed(400 + c);
      math_array y = math_make(math_even, type, dims, shape);
      memcpy(y.all, x.all, (size_t)x.n * x.element);
      math_set(&y);
      RGT_OK(rg_array_checksum(y.a, &other));
      RGT_TRUE(sum == other);
      math_free(&y);
    }
    math_seed(500 + c);
    if (x.n > 0) { /* one element differs */
      int64_t i = math_draw(x.n) * (int64_t)x.element;
      x.all[i] = (char)(x.all[i] ^ 1);
      math_set(&x);
      RGT_OK(rg_array_checksum(x.a, &other));
      RGT_TRUE(sum != other);
    }
    math_free(&x);
  }
  /* Shape and type count, and two elements that change places. */
  uint64_t sums[4];
  int64_t shapes[3][2] = {{6, 4}, {4, 6}, {6, 4}};
  const rg_array_type types[3] = {RG_TYPE_INT64, RG_TYPE_INT64, RG_TYPE_DOUBLE};
  for (int i = 0; i < 3; i++) {
    rg_array a;
    RGT_OK(rg_array_create_simple(math_world, types[i], 2, shapes[i], &a));
    RGT_OK(rg_array_zero(a));
    RGT_OK(rg_array_checksum(a, &sums[i]));
    RGT_OK(rg_array_free(&a));
  }
  RGT_TRUE(sums[0] != sums[1] && sums[0] != sums[2]);
  rg_array a;
  for (int64_t i = 0, one = 1; i < 2; i++) {
    RGT_OK(rg_array_create_simple(math_world, RG_TYPE_INT64, 2, shapes[0], &a));
    RGT_OK(rg_array_zero(a));
    RGT_OK(rg_array_fill(a, (int64_t[]){0, i}, (int64_t[]){1, i + 1}, &one));
    RGT_OK(rg_array_checksum(a, &sums[2 + i]));
    RGT_OK(rg_array_free(&a));
  }
  RGT_TRUE(sums[2] != sums[3]);
}
