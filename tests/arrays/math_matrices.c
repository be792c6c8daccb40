/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copies and matrices. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "math_cases.h"
#include "math_suites.h"

#define CASES math_cases(40)

void test_copy(void) {
  math_seed(41);
  for (int c = 0; c < CASES; c++) {
    int64_t shape[RG_ARRAY_MAX_DIMS];
    int dims = math_shape(shape);
    rg_array_type type = (rg_array_type)math_draw(RG_TYPE_COUNT);
    math_array x = math_make(NULL, type, dims, shape), y = math_make(NULL, type, dims, shape);
    RGT_OK(rg_array_copy(x.a, y.a));
    memcpy(y.all, x.all, (size_t)x.n * x.element);
    RGT_INT(math_differences(&y), 0);
    RGT_OK(rg_array_copy(y.a, y.a));
    RGT_INT(math_differences(&y), 0);
    math_free(&y);
    math_free(&x);
  }
}

/* A random patch of an array of n elements at most: the same number in both. */
static void copy_in_order(void) {
  static const int64_t factors[][RG_ARRAY_MAX_DIMS] = {{12, 1, 1}, {3, 4, 1}, {2, 3, 2},
                                                       {1, 12, 1}, {6, 1, 2}, {4, 3, 1}};
  rg_array_type type = (rg_array_type)math_draw(RG_TYPE_COUNT);
  math_array x[2];
  int64_t lo[2][RG_ARRAY_MAX_DIMS], hi[2][RG_ARRAY_MAX_DIMS];
  for (int k = 0; k < 2; k++) {
    const int64_t *extent = factors[math_draw(6)];
    int64_t shape[3];
    int dims = 3;
    for (int d = 0; d < dims; d++) {
      lo[k][d] = math_draw(3);
      hi[k][d] = lo[k][d] + extent[d];
      shape[d] = hi[k][d] + math_draw(2);
    }
    x[k] = math_make(NULL, type, dims, shape);
  }
  RGT_OK(rg_array_copy_patch(x[0].a, lo[0], hi[0], x[1].a, lo[1], hi[1], 0));
  for (int64_t i = 0; i < 12; i++)
    memcpy(x[1].all + math_index(&x[1], lo[1], hi[1], i) * (int64_t)x[1].element,
           x[0].all + math_index(&x[0], lo[0], hi[0], i) * (int64_t)x[0].element, x[0].element);
  RGT_INT(math_differences(&x[1]), 0);
  math_free(&x[0]);
  math_free(&x[1]);
}

static void copy_whole_in_order(void) {
  math_array x = math_make(NULL, RG_TYPE_INT64, 1, (int64_t[]){60});
  math_array y = math_make(NULL, RG_TYPE_INT64, 3, (int64_t[]){3, 5, 4});
  RGT_OK(rg_array_copy_patch(x.a, NULL, NULL, y.a, NULL, NULL, 0));
  memcpy(y.all, x.all, 60 * 8);
  RGT_INT(math_differences(&y), 0);
  RGT_OK(rg_array_zero(x.a));
  RGT_OK(rg_array_copy_patch(y.a, NULL, NULL, x.a, NULL, NULL, 0));
  RGT_INT(math_differences(&x), 0);
  math_free(&y);
  math_free(&x);
}

/* The dimensions in reverse order. */
static void copy_transposed(int dims) {
  rg_array_type type = (rg_array_type)math_draw(RG_TYPE_COUNT);
  int64_t shape[2][RG_ARRAY_MAX_DIMS], extent[RG_ARRAY_MAX_DIMS], n = 1;
  int64_t lo[2][RG_ARRAY_MAX_DIMS], hi[2][RG_ARRAY_MAX_DIMS];
  for (int d = 0; d < dims; d++) {
    extent[d] = math_draw(dims == 2 ? 20 : 6);
    n *= extent[d];
    for (int k = 0; k < 2; k++) {
      int e = k ? dims - 1 - d : d;
      lo[k][e] = math_draw(3);
      hi[k][e] = lo[k][e] + extent[d];
      shape[k][e] = hi[k][e] + 1 + math_draw(2);
    }
  }
  math_array x = math_make(NULL, type, dims, shape[0]);
  math_array y = math_make(NULL, type, dims, shape[1]);
  RGT_OK(rg_array_copy_patch(x.a, lo[0], hi[0], y.a, lo[1], hi[1], 1));
  for (int64_t i = 0; i < n; i++) {
    int64_t turned = 0, rest = i;
    for (int d = dims - 1; d >= 0; rest /= extent[d--])
      turned = turned * extent[d] + rest % extent[d];
    memcpy(y.all + math_index(&y, lo[1], hi[1], turned) * (int64_t)y.element,
           x.all + math_index(&x, lo[0], hi[0], i) * (int64_t)x.element, x.element);
  }
  RGT_INT(math_differences(&y), 0);
  math_free(&y);
  math_free(&x);
}

void test_copy_patch(void) {
  math_seed(42);
  copy_whole_in_order();
  for (int c = 0; c < CASES; c++) {
    copy_in_order();
    copy_transposed(2 + c % 4);
  }
}

/* Between the world and every other rank, there and back. */
static void copy_there_and_back(math_array *x, math_array *y, int turned) {
  RGT_OK(turned ? rg_array_transpose(x->a, y->a) : rg_array_copy(x->a, y->a));
  for (int64_t i = 0; i < x->n && y->a; i++) {
    int64_t to = turned ? i % x->shape[1] * x->shape[0] + i / x->shape[1] : i;
    memcpy(y->all + to * (int64_t)x->element, x->all + i * (int64_t)x->element, x->element);
  }
  if (y->a)
    RGT_INT(math_differences(y), 0);
  RGT_OK(rg_array_zero(x->a));
  RGT_OK(turned ? rg_array_transpose(y->a, x->a) : rg_array_copy(y->a, x->a));
  RGT_INT(math_differences(x), 0);
}

void test_copy_groups(void) {
  for (int c = 0; c < CASES / 2; c++) {
    int64_t shape[RG_ARRAY_MAX_DIMS] = {0}, beyond[RG_ARRAY_MAX_DIMS];
    const int64_t zero[RG_ARRAY_MAX_DIMS] = {0};
    math_seed(600 + c);
    int dims = math_shape(shape), turned = dims == 2 || c % 4 == 0;
    if (turned) {
      dims = 2;
      shape[0] = 1 + math_draw(20);
      shape[1] = 1 + math_draw(20);
    }
    rg_array_type type = (rg_array_type)math_draw(RG_TYPE_COUNT);
    math_array x = math_make(NULL, type, dims, shape), y = {.a = NULL};
    math_seed(700 + c); /* what only some ranks draw */
    if (math_even)
      y = math_make(math_even, type, dims, turned ? (int64_t[]){shape[1], shape[0]} : shape);
    copy_there_and_back(&x, &y, turned);
    /* All get the error, also members that have one array only. */
    for (int d = 0; d < dims; d++)
      beyond[d] = shape[d] + 1;
    RGT_FAILS(rg_array_copy_patch(x.a, zero, beyond, y.a, zero, zero, 0), RG_ERR_BOUNDS);
    if (y.a)
      math_free(&y);
    math_free(&x);
  }
}

/* The buffer is bounded, however long the elements are. */
static void transpose_long(void) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a, b;
  const size_t bytes = (size_t)6 << 20;
  char *element = calloc(1, bytes);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 2, (int64_t[]){1, 2}));
  spec.element_size = bytes;
  RGT_OK(rg_array_create(math_world, &spec, &a));
  memcpy(spec.shape, (int64_t[]){2, 1}, 2 * sizeof *spec.shape);
  RGT_OK(rg_array_create(math_world, &spec, &b));
  element[bytes - 1] = 5;
  RGT_OK(rg_array_fill(a, (int64_t[]){0, 1}, (int64_t[]){1, 2}, element));
  RGT_OK(rg_array_transpose(a, b));
  element[bytes - 1] = 0;
  RGT_OK(rg_array_get(b, (int64_t[]){1, 0}, (int64_t[]){2, 1}, element, NULL));
  RGT_INT(element[bytes - 1], 5);
  RGT_OK(rg_array_sync(b));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&b));
  free(element);
}

void test_transpose(void) {
  math_seed(43);
  for (int c = 0; c < CASES; c++) {
    int64_t most = c ? 20 : 300, shape[2] = {1 + math_draw(most), 1 + math_draw(most)};
    rg_array_type type = (rg_array_type)math_draw(RG_TYPE_COUNT);
    math_array x = math_make(NULL, type, 2, shape);
    math_array y = math_make(NULL, type, 2, (int64_t[]){shape[1], shape[0]});
    RGT_OK(rg_array_transpose(x.a, y.a));
    for (int64_t i = 0; i < x.n; i++)
      memcpy(y.all + (i % shape[1] * shape[0] + i / shape[1]) * (int64_t)x.element,
             x.all + i * (int64_t)x.element, x.element);
    RGT_INT(math_differences(&y), 0);
    math_free(&y);
    math_free(&x);
  }
  transpose_long();
}

/* --- products ------------------------------------------------------------------------------ */

static double _Complex op(const math_array *x, rg_array_form form, const int64_t lo[], int64_t i,
                          int64_t j) {
  int64_t row = form == RG_FORM_NORMAL ? i : j, column = form == RG_FORM_NORMAL ? j : i;
  double _Complex v = math_at(x, (lo[0] + row) * x->shape[1] + lo[1] + column);
  return form == RG_FORM_CONJUGATED ? conj(v) : v;
}

/* A matrix with a patch whose op() is n x m; whole: the patch is all. */
static math_array factor(rg_array_type type, rg_array_form form, int64_t n, int64_t m, int whole,
                         int64_t lo[], int64_t hi[]) {
  int64_t extent[2] = {form == RG_FORM_NORMAL ? n : m, form == RG_FORM_NORMAL ? m : n}, shape[2];
  for (int d = 0; d < 2; d++) {
    lo[d] = whole ? 0 : math_draw(4);
    hi[d] = lo[d] + extent[d];
    shape[d] = hi[d] + (whole ? 0 : math_draw(4));
  }
  return math_make(NULL, type, 2, shape);
}

static void multiply(int64_t m, int64_t n, int64_t k) {
  rg_array_type type = math_blas_type();
  rg_array_form fa = (rg_array_form)math_draw(3), fb = (rg_array_form)math_draw(3);
  int whole = (int)math_draw(2);
  int64_t lo[3][2], hi[3][2];
  math_array a = factor(type, fa, m, k, whole, lo[0], hi[0]);
  math_array b = factor(type, fb, k, n, whole, lo[1], hi[1]);
  math_array c = factor(type, RG_FORM_NORMAL, m, n, whole, lo[2], hi[2]);
  double _Complex alpha = math_value(type), beta = math_draw(2) ? math_value(type) : 0;
  math_scalar s = math_element(type, alpha), t = math_element(type, beta);
  if (whole)
    RGT_OK(rg_array_multiply(fa, fb, &s, a.a, b.a, &t, c.a));
  else
    RGT_OK(rg_array_multiply_patch(fa, fb, &s, a.a, lo[0], hi[0], b.a, lo[1], hi[1], &t, c.a, lo[2],
                                   hi[2]));
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      int64_t at = (lo[2][0] + i) * c.shape[1] + lo[2][1] + j;
      double _Complex sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += op(&a, fa, lo[0], i, l) * op(&b, fb, lo[1], l, j);
      math_put(&c, at, alpha * sum + beta * math_at(&c, at));
    }
  RGT_INT(math_differences(&c), 0);
  math_free(&c);
  math_free(&b);
  math_free(&a);
}

/* A beta of -0.0 is 0: what the result was, NaN here, does not count. */
static void negative_zero(void) {
  const double one = 1, beta = -0.0, nan = 0.0 / (beta + 0.0);
  const int64_t n = 3;
  math_array a = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){n, n});
  math_array c = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){n, n});
  math_array x = math_make(NULL, RG_TYPE_DOUBLE, 1, &n), y = math_make(NULL, RG_TYPE_DOUBLE, 1, &n);
  RGT_OK(rg_array_fill(a.a, NULL, NULL, &one));
  RGT_OK(rg_array_fill(x.a, NULL, NULL, &one));
  RGT_OK(rg_array_fill(c.a, NULL, NULL, &nan));
  RGT_OK(rg_array_fill(y.a, NULL, NULL, &nan));
  RGT_OK(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, a.a, a.a, &beta, c.a));
  RGT_OK(rg_array_multiply_vector(RG_FORM_NORMAL, &one, a.a, x.a, &beta, y.a));
  for (int64_t i = 0; i < n * n; i++)
    math_put(&c, i, 3);
  for (int64_t i = 0; i < n; i++)
    math_put(&y, i, 3);
  RGT_INT(math_differences(&c), 0);
  RGT_INT(math_differences(&y), 0);
  math_free(&y);
  math_free(&x);
  math_free(&c);
  math_free(&a);
}

void test_multiply(void) {
  math_seed(44);
  for (int c = 0; c < CASES; c++)
    multiply(math_draw(20), math_draw(20), math_draw(20));
  negative_zero();
}

/* So large that there are several panels; 0 times NaN is 0 where beta is; the
 * application's number of threads stays. */
void test_multiply_large(void) {
  math_seed(45);
  for (int c = 0; c < 4; c++)
    multiply(1 + math_draw(60), 1 + math_draw(60), 300 + math_draw(300));
  multiply(1, 1100, 5);
  const double one = 1, zero = 0, nan = 0.0 / zero;
  math_array x = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){10, 10});
  math_array y = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){10, 10});
  RGT_OK(rg_array_fill(x.a, NULL, NULL, &one));
  RGT_OK(rg_array_fill(y.a, NULL, NULL, &nan));
#ifdef OPENBLAS_VERSION /* in its cblas.h */
  for (int threads = 1; threads <= 2; threads++) {
    openblas_set_num_threads(threads);
    int before = openblas_get_num_threads();
    RGT_OK(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, x.a, x.a, &zero, y.a));
    RGT_INT(openblas_get_num_threads(), before);
  }
#else
  RGT_OK(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, x.a, x.a, &zero, y.a));
#endif
  for (int64_t i = 0; i < 100; i++)
    math_put(&y, i, 10);
  RGT_INT(math_differences(&y), 0);
  math_free(&y);
  math_free(&x);
}

void test_multiply_vector(void) {
  math_seed(46);
  for (int c = 0; c < CASES; c++) {
    rg_array_type type = math_blas_type();
    rg_array_form form = (rg_array_form)math_draw(3);
    int64_t lo[2], hi[2], m = math_draw(30), n = math_draw(30);
    math_array a = factor(type, form, m, n, 1, lo, hi);
    math_array x = math_make(NULL, type, 1, &n), y = math_make(NULL, type, 1, &m);
    double _Complex alpha = math_value(type), beta = math_draw(2) ? math_value(type) : 0;
    math_scalar s = math_element(type, alpha), t = math_element(type, beta);
    RGT_OK(rg_array_multiply_vector(form, &s, a.a, x.a, &t, y.a));
    for (int64_t i = 0; i < m; i++) {
      double _Complex sum = 0;
      for (int64_t j = 0; j < n; j++)
        sum += op(&a, form, lo, i, j) * math_at(&x, j);
      math_put(&y, i, alpha * sum + beta * math_at(&y, i));
    }
    RGT_INT(math_differences(&y), 0);
    math_free(&y);
    math_free(&x);
    math_free(&a);
  }
}

/* --- errors --------------------------------------------------------------------------------- */

static void wrong_types(rg_array text, rg_array whole, rg_array complexes, rg_array vector,
                        rg_array other) {
  double number;
  math_scalar s = {{0}};
  RGT_FAILS(rg_array_scale(text, NULL, NULL, &s), RG_ERR_ARG);
  RGT_FAILS(rg_array_add_scalar(text, NULL, NULL, &s), RG_ERR_ARG);
  RGT_FAILS(rg_array_sum(text, NULL, NULL, &s), RG_ERR_ARG);
  RGT_FAILS(rg_array_random(text, 1), RG_ERR_ARG);
  RGT_FAILS(rg_array_dot(text, text, &s), RG_ERR_ARG);
  RGT_FAILS(rg_array_norm(text, RG_NORM_1, &number), RG_ERR_ARG);
  RGT_FAILS(rg_array_add(&s, whole, &s, complexes, whole), RG_ERR_ARG);
  RGT_FAILS(rg_array_min(complexes, NULL, NULL, &s, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_combine(RG_COMBINE_MAXIMUM, complexes, complexes, complexes), RG_ERR_ARG);
  RGT_FAILS(rg_array_sum_reproducible(whole, &number), RG_ERR_ARG);
  RGT_FAILS(rg_array_norm_reproducible(complexes, RG_NORM_1, &number), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &s, whole, whole, &s, text),
            RG_ERR_ARG);
  RGT_FAILS(rg_array_copy(whole, complexes), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply_vector(RG_FORM_NORMAL, &s, complexes, vector, &s, other), RG_ERR_ARG);
}

static void wrong_shapes(rg_array a, rg_array b, rg_array v, rg_array w) {
  const double one = 1;
  const int64_t lo[2] = {0, 0}, hi[2] = {4, 6}, beyond[2] = {4, 7}, next[2] = {1, 0},
                last[2] = {5, 6}, square[2] = {4, 4};
  double s[2];
  uint64_t sum;
  RGT_FAILS(rg_array_fill(a, lo, beyond, &one), RG_ERR_BOUNDS);
  RGT_TRUE(strstr(rg_error_detail(), "dimension 1") != NULL);
  RGT_FAILS(rg_array_fill(a, lo, NULL, &one), RG_ERR_ARG);
  RGT_FAILS(rg_array_fill(a, hi, lo, &one), RG_ERR_ARG);
  RGT_FAILS(rg_array_fill(a, NULL, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_add(&one, a, &one, b, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_add(NULL, a, &one, a, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_dot(a, v, s), RG_ERR_ARG);
  RGT_FAILS(rg_array_add_patch(&one, a, lo, hi, &one, a, lo, hi, a, next, last), RG_ERR_ARG);
  RGT_FAILS(rg_array_copy(a, b), RG_ERR_ARG);
  RGT_FAILS(rg_array_copy_patch(a, lo, hi, a, next, last, 0), RG_ERR_ARG);
  RGT_FAILS(rg_array_copy_patch(a, lo, hi, v, NULL, NULL, 0), RG_ERR_ARG);
  RGT_FAILS(rg_array_transpose(a, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_transpose(a, v), RG_ERR_ARG);
  RGT_FAILS(rg_array_copy_patch(v, NULL, NULL, w, NULL, NULL, 1), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, a, a, &one, b), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, a, b, &one, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply((rg_array_form)3, RG_FORM_NORMAL, &one, a, b, &one, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, v, b, &one, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, NULL, a, b, &one, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply_vector(RG_FORM_NORMAL, &one, a, v, &one, v), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply_vector(RG_FORM_NORMAL, &one, a, v, NULL, w), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply_vector((rg_array_form)3, &one, a, v, &one, w), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply_vector(RG_FORM_NORMAL, &one, v, v, &one, w), RG_ERR_ARG);
  RGT_FAILS(rg_array_multiply_vector(RG_FORM_NORMAL, &one, a, v, &one, w), RG_ERR_ARG);
  RGT_TRUE(strstr(rg_error_detail(), "x has 7 elements and y 3, the matrix is of 5 x 6") != NULL);
  RGT_FAILS(rg_array_norm(a, RG_NORM_1, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_dot(a, a, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_min(a, NULL, NULL, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_copy(a, v), RG_ERR_ARG);
  RGT_FAILS(rg_array_copy_patch(a, lo, square, a, lo, square, 1), RG_ERR_ARG);
  RGT_FAILS(rg_array_norm(a, (rg_norm_kind)3, s), RG_ERR_ARG);
  RGT_FAILS(rg_array_combine((rg_combine_operation)7, a, a, a), RG_ERR_ARG);
  RGT_FAILS(rg_array_map(a, NULL, NULL, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_min(a, lo, lo, s, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_checksum(NULL, &sum), RG_ERR_ARRAY);
  RGT_FAILS(rg_array_copy(NULL, NULL), RG_ERR_ARRAY);
  RGT_FAILS(rg_array_update_ghosts(NULL), RG_ERR_ARRAY);
}

/* After all of these the arrays still work. */
void test_errors(void) {
  math_seed(47);
  math_array text = math_make(NULL, RG_TYPE_OPAQUE, 2, (int64_t[]){5, 6});
  math_array whole = math_make(NULL, RG_TYPE_INT32, 2, (int64_t[]){5, 6});
  math_array complexes = math_make(NULL, RG_TYPE_FLOAT_COMPLEX, 2, (int64_t[]){5, 6});
  math_array a = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){5, 6});
  math_array b = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){6, 5});
  math_array v = math_make(NULL, RG_TYPE_DOUBLE, 1, (int64_t[]){7});
  math_array w = math_make(NULL, RG_TYPE_DOUBLE, 1, (int64_t[]){3});
  wrong_types(text.a, whole.a, complexes.a, v.a, w.a);
  wrong_shapes(a.a, b.a, v.a, w.a);
  math_free(&w);
  if (math_even && rgt_size > 1) { /* groups that do not fit */
    rg_group other;
    int half[1] = {0};
    rg_array c = NULL, d;
    const double one = 1;
    double s;
    RGT_OK(rg_array_create_simple(math_even, RG_TYPE_DOUBLE, 2, (int64_t[]){5, 6}, &d));
    RGT_OK(rg_group_create(math_even, 1, half, 9, &other));
    if (other)
      RGT_OK(rg_array_create_simple(other, RG_TYPE_DOUBLE, 2, (int64_t[]){5, 6}, &c));
    if (other && rgt_size > 2) {
      RGT_FAILS(rg_array_add(&one, d, &one, c, d), RG_ERR_GROUP);
      RGT_FAILS(rg_array_dot(d, c, &s), RG_ERR_GROUP);
    }
    RGT_OK(rg_array_free(&c));
    RGT_OK(rg_array_free(&d));
    RGT_OK(rg_group_free(&other));
  }
  math_array *all[6] = {&text, &whole, &complexes, &a, &b, &v};
  for (int i = 0; i < 6; i++) {
    RGT_INT(math_differences(all[i]), 0);
    math_free(all[i]);
  }
}

/* --- diagonals ---------------------------------------------------------------------------- */

static void check_diagonal(rg_diagonal_operation op, math_array *x, math_array *v,
                           const math_scalar *value) {
  RGT_OK(rg_array_diagonal(op, x->a, v ? v->a : NULL, value));
  for (int64_t i = 0; i < x->shape[0] && i < x->shape[1]; i++) {
    int64_t at = i * (x->shape[1] + 1);
    double _Complex y = v ? math_at(v, i) : math_number(x->type, value);
    if (op == RG_DIAGONAL_GET)
      math_put(v, i, math_at(x, at));
    else
      math_put(x, at, op == RG_DIAGONAL_SET ? y : math_at(x, at) + y);
  }
  RGT_INT(math_differences(x), 0);
  if (v)
    RGT_INT(math_differences(v), 0);
}

void test_diagonal(void) {
  math_seed(50);
  for (int c = 0; c < math_cases(30); c++) {
    int64_t shape[2] = {math_draw(30), math_draw(30)},
            n = shape[0] < shape[1] ? shape[0] : shape[1];
    rg_array_type type = math_type();
    math_array x = math_make(NULL, type, 2, shape), v = math_make(NULL, type, 1, &n);
    math_scalar value = math_element(type, math_value(type)), trace;
    double _Complex sum = 0;
    for (int64_t i = 0; i < n; i++)
      sum += math_at(&x, i * (shape[1] + 1));
    RGT_OK(rg_array_trace(x.a, &trace));
    RGT_TRUE(math_number(type == RG_TYPE_INT32 ? RG_TYPE_INT64 : type, &trace) == sum);
    for (int op = RG_DIAGONAL_ADD; op >= RG_DIAGONAL_GET; op--) {
      check_diagonal((rg_diagonal_operation)op, &x, &v, NULL);
      if (op != RG_DIAGONAL_GET)
        check_diagonal((rg_diagonal_operation)op, &x, NULL, &value);
    }
    RGT_FAILS(rg_array_diagonal(RG_DIAGONAL_GET, x.a, NULL, &value), RG_ERR_ARG);
    RGT_FAILS(rg_array_diagonal(RG_DIAGONAL_SET, x.a, NULL, NULL), RG_ERR_ARG);
    RGT_FAILS(rg_array_diagonal((rg_diagonal_operation)3, x.a, v.a, NULL), RG_ERR_ARG);
    RGT_FAILS(rg_array_diagonal(RG_DIAGONAL_SET, x.a, x.a, NULL), RG_ERR_ARG);
    RGT_FAILS(rg_array_diagonal(RG_DIAGONAL_SET, v.a, v.a, NULL), RG_ERR_ARG);
    RGT_FAILS(rg_array_trace(v.a, &trace), RG_ERR_ARG);
    math_free(&v);
    math_free(&x);
  }
}

/* Sums of whole numbers divided by 2 are exact. Larger ones have tiles. */
void test_symmetrize(void) {
  math_seed(51);
  for (int c = 0; c < math_cases(30); c++) {
    int64_t n = c % 10 == 9 ? 150 : math_draw(40);
    math_array x = math_make(NULL, math_blas_type(), 2, (int64_t[]){n, n});
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < i; j++) {
        double _Complex mean = (math_at(&x, i * n + j) + math_at(&x, j * n + i)) / 2;
        math_put(&x, i * n + j, mean);
        math_put(&x, j * n + i, mean);
      }
    RGT_OK(rg_array_symmetrize(x.a));
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
  }
  math_array x = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){3, 4});
  math_array y = math_make(NULL, RG_TYPE_INT64, 2, (int64_t[]){3, 3});
  RGT_FAILS(rg_array_symmetrize(x.a), RG_ERR_ARG);
  RGT_FAILS(rg_array_symmetrize(y.a), RG_ERR_ARG);
  math_free(&y);
  math_free(&x);
}
