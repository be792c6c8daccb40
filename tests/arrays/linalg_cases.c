/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whatever is computed is compared in units of 10 n epsilon, with the norms of the matrices as
 * factors. */
#include "linalg_cases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/process_grid.h"
#include "math_cases.h"

#define CASES math_cases(8)
#define PI 3.14159265358979323846

static int several; /* ScaLAPACK can be used */

void linalg_start(void) {
  const char *lapack, *scalapack;
  math_start();
  RGT_OK(rg_linalg_libraries(&lapack, &scalapack));
  RGT_PTR_NOT_NULL(lapack);
  several = scalapack != NULL;
  const char *asked = getenv("RG_SCALAPACK");
  if (asked && strchr(asked, '/'))
    RGT_STR(scalapack, asked);
  math_seed(60);
}

void linalg_stop(void) {
  math_stop();
}

/* --- matrices ------------------------------------------------------------------------------ */

/* Any number of processes that is possible. */
static rg_linalg_options any_options(void) {
  rg_linalg_options options = {.size = sizeof options};
  options.processes = several ? (int)math_draw(rgt_size + 1) : (int)math_draw(2);
  options.block = math_draw(3) ? 0 : (int)(1 + math_draw(5));
  return options;
}

static int is_complex(rg_array_type type) {
  return type == RG_TYPE_FLOAT_COMPLEX || type == RG_TYPE_DOUBLE_COMPLEX;
}

static double bound(rg_array_type type, int64_t n) {
  double epsilon =
      type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX ? FLT_EPSILON : DBL_EPSILON;
  return 10 * (double)(n > 1 ? n : 1) * epsilon;
}

/* An array that gets a result. */
static math_array result(rg_array_type type, int64_t n, int64_t m) {
  return math_make(NULL, type, 2, (int64_t[]){n, m});
}

typedef double _Complex element(int64_t i, int64_t j, int64_t n);

static math_array matrix(rg_array_type type, int64_t n, element *at) {
  math_array x = result(type, n, n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      math_put(&x, i * n + j, at(i, j, n));
  math_set(&x);
  return x;
}

static double _Complex laplacian(int64_t i, int64_t j, int64_t n) {
  (void)n;
  return i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0;
}

/* Frank's matrix in its symmetric form. */
static double _Complex frank(int64_t i, int64_t j, int64_t n) {
  return (double)(n - (i > j ? i : j));
}

static double _Complex hilbert(int64_t i, int64_t j, int64_t n) {
  (void)n;
  return 1 / (double)(i + j + 1);
}

/* The elements as the array has them now. */
static void fetch(math_array *x) {
  const int64_t zero[2] = {0, 0};
  RGT_OK(rg_array_get(x->a, zero, x->shape, x->all, NULL));
  RGT_OK(rg_array_sync(x->a));
}

static double _Complex at(const math_array *x, int64_t i, int64_t j) {
  return math_at(x, i * x->shape[1] + j);
}

static double norm(const math_array *x) {
  double sum = 0;
  for (int64_t i = 0; i < x->n; i++)
    sum += pow(cabs(math_at(x, i)), 2);
  return sqrt(sum);
}

/* The greatest deviation of op(x) from the n x n unit matrix: x^H x, or x x^H. */
static double deviation(const math_array *x, int of_rows) {
  double greatest = 0;
  int64_t n = x->shape[!of_rows], m = x->shape[of_rows];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double _Complex sum = i == j ? -1 : 0;
      for (int64_t k = 0; k < m; k++)
        sum += of_rows ? at(x, i, k) * conj(at(x, j, k)) : conj(at(x, k, i)) * at(x, k, j);
      greatest = fmax(greatest, cabs(sum));
    }
  return greatest;
}

/* The greatest |a v - value v| (b: value b v). */
static double residual(const math_array *a, const math_array *b, const math_array *v,
                       const double values[], int64_t count) {
  double greatest = 0;
  for (int64_t c = 0; c < count; c++)
    for (int64_t i = 0; i < a->shape[0]; i++) {
      double _Complex sum = b ? 0 : -values[c] * at(v, i, c);
      for (int64_t k = 0; k < a->shape[0]; k++)
        sum += (at(a, i, k) - (b ? values[c] * at(b, i, k) : 0)) * at(v, k, c);
      greatest = fmax(greatest, cabs(sum));
    }
  return greatest;
}

/* A random vector of length 1, as a reflection has it. */
static void reflector(rg_array_type type, int64_t n, double _Complex v[]) {
  double length = 0;
  for (int64_t i = 0; i < n; i++) {
    v[i] = (double)(math_draw(1000) - 499) + (is_complex(type) ? (double)math_draw(1000) * I : 0);
    length += pow(cabs(v[i]), 2);
  }
  for (int64_t i = 0; i < n; i++)
    v[i] /= sqrt(length) + (length > 0 ? 0 : 1);
}

static double _Complex reflected(const double _Complex v[], int64_t i, int64_t j) {
  return (i == j) - 2 * v[i] * conj(v[j]);
}

/* p diag(values) q^H with reflections p and q (hermitian: q = p): m x n. */
static math_array with_values(rg_array_type type, int64_t m, int64_t n, const double values[],
                              int hermitian) {
  double _Complex p[64], q[64];
  math_array x = result(type, m, n);
  reflector(type, m, p);
  reflector(type, n, q);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double _Complex sum = 0;
      for (int64_t k = 0; k < m && k < n; k++)
        sum += reflected(p, i, k) * values[k] * conj(reflected(hermitian ? p : q, j, k));
      math_put(&x, i * n + j, hermitian && i == j ? creal(sum) : sum);
    }
  math_set(&x);
  return x;
}

/* --- eigenvalues ------------------------------------------------------------------------------ */

/* Computes all values of a, with vectors and without, and compares them with those expected. */
static void check_spectrum(math_array *a, const double expected[]) {
  const int64_t n = a->shape[0];
  const double size = norm(a) + 1;
  double values[64], alone[64];
  int64_t count = -1;
  math_array v = result(a->type, n, n + math_draw(2));
  rg_linalg_options options = any_options();
  fetch(a);
  RGT_OK(rg_linalg_eigen(a->a, NULL, &options, values, &count, v.a));
  RGT_INT(count, n);
  v.shape[1] = n; /* the columns that count */
  int64_t lo[2] = {0, 0};
  RGT_OK(rg_array_get(v.a, lo, (int64_t[]){n, n}, v.all, NULL));
  v.n = n * n;
  RGT_TRUE(deviation(&v, 0) <= bound(a->type, n));
  RGT_TRUE(residual(a, NULL, &v, values, n) <= bound(a->type, n) * size);
  options = any_options();
  RGT_OK(rg_linalg_eigen(a->a, NULL, &options, alone, &count, NULL));
  RGT_INT(math_differences(a), 0);
  for (int64_t i = 0; i < n; i++) {
    RGT_DBL(values[i], expected[i], bound(a->type, n) * size);
    RGT_DBL(alone[i], expected[i], bound(a->type, n) * size);
  }
  math_free(&v);
}

void test_laplacian(void) {
  for (int c = 0; c < CASES; c++) {
    double expected[64];
    int64_t n = c ? 1 + math_draw(40) : 1;
    math_array a = matrix(math_blas_type(), n, laplacian);
    for (int64_t i = 0; i < n; i++)
      expected[i] = 2 - 2 * cos((double)(i + 1) * PI / (double)(n + 1));
    check_spectrum(&a, expected);
    math_free(&a);
  }
}

/* Its factor has the values 1 / (2 - 2 cos), its inverse the differences of a chain. */
void test_frank(void) {
  for (int c = 0; c < CASES; c++) {
    double expected[64];
    rg_array_type type = math_blas_type();
    int64_t n = 1 + math_draw(25);
    rg_linalg_options options = any_options();
    math_array a = matrix(type, n, frank), inverse = result(type, n, n);
    for (int64_t i = 0; i < n; i++)
      expected[i] = 1 / (2 - 2 * cos((double)(2 * (n - i) - 1) * PI / (double)(2 * n + 1)));
    check_spectrum(&a, expected);
    RGT_OK(rg_linalg_inverse(a.a, &options, inverse.a));
    fetch(&inverse);
    double condition = 4 * (double)(n * n);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        RGT_TRUE(cabs(at(&inverse, i, j) - (i == 0 && j == 0 ? 1 : laplacian(i, j, n))) <=
                 bound(type, n) * condition);
    math_free(&inverse);
    math_free(&a);
  }
}

/* The determinant of the 5 x 5 matrix is 1 / 266716800000; the factor replaces a or not. */
void test_hilbert(void) {
  for (int c = 0; c < CASES; c++) {
    rg_array_type type = math_draw(2) ? RG_TYPE_DOUBLE : RG_TYPE_DOUBLE_COMPLEX;
    int64_t n = 5;
    double determinant = 1;
    rg_linalg_options options = any_options();
    math_array a = matrix(type, n, hilbert), other = result(type, n, n), *l = c % 2 ? &a : &other;
    RGT_OK(rg_linalg_cholesky(a.a, &options, l->a));
    fetch(l);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        double _Complex sum = 0;
        for (int64_t k = 0; k < n; k++)
          sum += at(l, i, k) * conj(at(l, j, k));
        RGT_TRUE(cabs(sum - hilbert(i, j, n)) <= bound(type, n));
        RGT_TRUE(j <= i || at(l, i, j) == 0);
      }
    for (int64_t i = 0; i < n; i++)
      determinant *= pow(creal(at(l, i, i)), 2);
    RGT_DBL(determinant * 266716800000.0, 1, 1e-9);
    math_free(&other);
    math_free(&a);
  }
}

/* Few different values, and values that differ in the last bits. */
void test_clustered(void) {
  for (int c = 0; c < CASES; c++) {
    double expected[64];
    rg_array_type type = math_blas_type();
    int64_t n = 2 + math_draw(38);
    for (int64_t i = 0; i < n; i++)
      expected[i] = c % 2 ? (double)(i * 3 / n) : 1 + (double)i * bound(type, n) / 1000;
    math_array a = with_values(type, n, n, expected, 1);
    check_spectrum(&a, expected);
    math_free(&a);
  }
}

/* b = p diag(1 ... 2) p^H; vectors^H b vectors = 1. With a = 3 b all values are 3. */
void test_generalised(void) {
  for (int c = 0; c < CASES; c++) {
    double diagonal[64], values[64], deviates = 0;
    rg_array_type type = math_blas_type();
    int64_t n = 1 + math_draw(30), count;
    rg_linalg_options options = any_options();
    for (int64_t i = 0; i < n; i++)
      diagonal[i] = 1 + (double)i / (double)n;
    math_array b = with_values(type, n, n, diagonal, 1), a = matrix(type, n, laplacian),
               v = result(type, n, n);
    RGT_OK(rg_linalg_eigen(a.a, b.a, &options, values, &count, v.a));
    fetch(&a);
    fetch(&b);
    fetch(&v);
    RGT_TRUE(residual(&a, &b, &v, values, n) <= bound(type, n) * 10 * (1 + norm(&a)));
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        double _Complex sum = i == j ? -1 : 0;
        for (int64_t k = 0; k < n; k++)
          for (int64_t l = 0; l < n; l++)
            sum += conj(at(&v, k, i)) * at(&b, k, l) * at(&v, l, j);
        deviates = fmax(deviates, cabs(sum));
      }
    RGT_TRUE(deviates <= bound(type, n) * 4);
    const double three[2] = {3, 0};
    const float narrow[2] = {3, 0};
    RGT_OK(rg_array_copy(b.a, a.a));
    RGT_OK(rg_array_scale(
        a.a, NULL, NULL,
        type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX ? (const void *)narrow : three));
    RGT_OK(rg_linalg_eigen(a.a, b.a, &options, values, &count, NULL));
    for (int64_t i = 0; i < n; i++)
      RGT_DBL(values[i], 3, bound(type, n) * 10);
    math_free(&v);
    math_free(&b);
    math_free(&a);
  }
}

/* The values of a diagonal matrix are 0, 1, ... n - 1; its vectors are the units. */
void test_ranges(void) {
  for (int c = 0; c < CASES; c++) {
    double values[64];
    rg_array_type type = math_blas_type();
    int64_t n = 3 + math_draw(30), count = -1, first = math_draw(n),
            last = first + 1 + math_draw(n - first);
    rg_linalg_options options = any_options();
    math_array a = result(type, n, n), v = result(type, n, n), before = v;
    for (int64_t i = 0; i < n * n; i++)
      math_put(&a, i, i % (n + 1) ? 0 : (double)(n - 1 - i / (n + 1)));
    math_set(&a);
    if (c % 2) {
      options.first = first;
      options.last = last;
    } else {
      options.low = (double)first - .5;
      options.high = (double)last - .5;
    }
    RGT_OK(rg_linalg_eigen(a.a, NULL, &options, values, &count, v.a));
    RGT_INT(count, last - first);
    before.all = malloc((size_t)v.n * v.element);
    memcpy(before.all, v.all, (size_t)v.n * v.element);
    fetch(&v);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++)
        if (j < count)
          RGT_DBL(cabs(at(&v, i, j)), i == n - 1 - first - j, bound(type, n));
        else
          RGT_TRUE(at(&v, i, j) == at(&before, i, j));
    for (int64_t i = 0; i < count; i++)
      RGT_DBL(values[i], (double)(first + i), bound(type, n) * (double)n);
    options.first = options.last = 0;
    options.low = (double)n;
    options.high = (double)n + 1;
    RGT_OK(rg_linalg_eigen(a.a, NULL, &options, values, &count, NULL));
    RGT_INT(count, 0);
    free(before.all);
    math_free(&v);
    math_free(&a);
  }
}

/* --- singular values ----------------------------------------------------------------------------
 */

void test_singular_values(void) {
  for (int c = 0; c < CASES; c++) {
    double expected[64], values[64], alone[64], worst = 0;
    rg_array_type type = math_blas_type();
    int64_t m = 1 + math_draw(30), n = 1 + math_draw(30), k = m < n ? m : n;
    rg_linalg_options options = any_options();
    for (int64_t i = 0; i < k; i++)
      expected[i] = (double)((k - i + 1) / 2); /* each twice */
    math_array a = with_values(type, m, n, expected, 0), u = result(type, m, k),
               vh = result(type, k, n);
    RGT_OK(rg_linalg_singular(a.a, &options, values, u.a, vh.a));
    RGT_OK(rg_linalg_singular(a.a, &options, alone, NULL, NULL));
    fetch(&u);
    fetch(&vh);
    RGT_TRUE(deviation(&u, 0) <= bound(type, m + n));
    RGT_TRUE(deviation(&vh, 1) <= bound(type, m + n));
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        double _Complex sum = -at(&a, i, j);
        for (int64_t l = 0; l < k; l++)
          sum += at(&u, i, l) * values[l] * at(&vh, l, j);
        worst = fmax(worst, cabs(sum));
      }
    RGT_TRUE(worst <= bound(type, m + n) * (double)k);
    for (int64_t i = 0; i < k; i++) {
      RGT_DBL(values[i], expected[i], bound(type, m + n) * (double)k);
      RGT_DBL(alone[i], expected[i], bound(type, m + n) * (double)k);
    }
    math_free(&vh);
    math_free(&u);
    math_free(&a);
  }
}

/* --- equations
 * -------------------------------------------------------------------------------------- */

/* p l u for the factors, in an array like a's reference. */
static double factors_differ(const math_array *a, const math_array *f, const int64_t pivots[]) {
  const int64_t n = a->shape[0];
  double _Complex *product = calloc((size_t)(n * n), sizeof *product);
  double greatest = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t k = 0; k <= i && k <= j; k++)
        product[i * n + j] += (k == i ? 1 : at(f, i, k)) * at(f, k, j);
  for (int64_t i = n - 1; i >= 0; i--)
    for (int64_t j = 0; j < n; j++) {
      double _Complex x = product[i * n + j];
      product[i * n + j] = product[pivots[i] * n + j];
      product[pivots[i] * n + j] = x;
    }
  for (int64_t i = 0; i < n * n; i++)
    greatest = fmax(greatest, cabs(product[i] - math_at(a, i)));
  free(product);
  return greatest;
}

static double solution_differs(const math_array *a, const math_array *x, const math_array *b) {
  double greatest = 0;
  for (int64_t i = 0; i < b->shape[0]; i++)
    for (int64_t j = 0; j < b->shape[1]; j++) {
      double _Complex sum = -at(b, i, j);
      for (int64_t k = 0; k < a->shape[0]; k++)
        sum += at(a, i, k) * at(x, k, j);
      greatest = fmax(greatest, cabs(sum));
    }
  return greatest;
}

/* Matrices with singular values from 1 to 3. */
void test_solve(void) {
  for (int c = 0; c < CASES; c++) {
    double values[64];
    int64_t n = 1 + math_draw(30), m = 1 + math_draw(9), pivots[64];
    rg_array_type type = math_blas_type();
    rg_linalg_options options = any_options();
    for (int64_t i = 0; i < n; i++)
      values[i] = 1 + 2 * (double)i / (double)n;
    math_array a = with_values(type, n, n, values, 0), f = result(type, n, n),
               b = result(type, n, m), x = result(type, n, m);
    const double size = 30 * bound(type, n) * (1 + norm(&b));
    RGT_OK(rg_linalg_solve(a.a, NULL, b.a, &options, x.a));
    RGT_INT(math_differences(&b), 0);
    fetch(&x);
    RGT_TRUE(solution_differs(&a, &x, &b) <= size);
    options = any_options();
    RGT_OK(rg_linalg_lu(a.a, &options, pivots, f.a));
    RGT_INT(math_differences(&a), 0);
    fetch(&f);
    RGT_TRUE(factors_differ(&a, &f, pivots) <= size);
    options = any_options(); /* another grid than that of the factors */
    RGT_OK(rg_linalg_solve(f.a, pivots, b.a, &options, b.a));
    memcpy(x.all, b.all, (size_t)b.n * b.element);
    const int64_t zero[2] = {0, 0};
    RGT_OK(rg_array_get(b.a, zero, b.shape, b.all, NULL));
    RGT_TRUE(solution_differs(&a, &b, &x) <= size);
    RGT_OK(rg_array_sync(b.a));
    RGT_OK(rg_linalg_inverse(a.a, &options, f.a));
    RGT_OK(rg_linalg_inverse(f.a, &options, f.a));
    fetch(&f);
    for (int64_t i = 0; i < n * n; i++)
      RGT_TRUE(cabs(math_at(&f, i) - math_at(&a, i)) <= 100 * bound(type, n));
    math_free(&x);
    math_free(&b);
    math_free(&f);
    math_free(&a);
  }
}

/* A random matrix on the grids of all sizes: the values of one process, within the bound; with
 * blocks of the library's own extent. */
void test_any_grid(void) {
  const int64_t n = 50;
  double one[64], values[64];
  int64_t count;
  math_array a = result(RG_TYPE_DOUBLE, n, n);
  rg_linalg_options options = {.size = sizeof options, .processes = 1};
  RGT_OK(rg_linalg_eigen(a.a, NULL, &options, one, &count, NULL));
  for (options.processes = 0; options.processes <= (several ? rgt_size : 1); options.processes++) {
    RGT_OK(rg_linalg_eigen(a.a, NULL, &options, values, &count, NULL));
    for (int64_t i = 0; i < n; i++)
      RGT_DBL(values[i], one[i], bound(a.type, n) * norm(&a));
  }
  RGT_OK(rg_linalg_eigen(a.a, NULL, NULL, values, &count, NULL));
  RGT_DBL(values[0], one[0], bound(a.type, n) * norm(&a));
  math_free(&a);
}

/* --- errors
 * ------------------------------------------------------------------------------------------ */

static int says(const char *text) {
  return strstr(rg_error_detail(), text) != NULL;
}

void test_not_definite(void) {
  for (int c = 0; c < CASES; c++) {
    rg_array_type type = math_blas_type();
    int64_t n = 1 + math_draw(20), wrong = math_draw(n), count = -1;
    double values[64];
    char text[64];
    rg_linalg_options options = any_options();
    math_array a = result(type, n, n), l = result(type, n, n);
    for (int64_t i = 0; i < n * n; i++)
      math_put(&a, i, i % (n + 1) ? 0 : i / (n + 1) < wrong ? 1 : -1);
    math_set(&a);
    snprintf(text, sizeof text, "minor of order %d ", (int)wrong + 1);
    RGT_FAILS(rg_linalg_cholesky(a.a, &options, l.a), RG_ERR_NUMERIC);
    RGT_TRUE(says(text));
    RGT_INT(math_differences(&l), 0);
    RGT_FAILS(rg_linalg_eigen(l.a, a.a, &options, values, &count, l.a), RG_ERR_NUMERIC);
    RGT_TRUE(says(text) && says("b is not"));
    RGT_INT(math_differences(&l), 0);
    RGT_INT(count, -1);
    math_free(&l);
    math_free(&a);
  }
}

void test_singular(void) {
  for (int c = 0; c < CASES; c++) {
    rg_array_type type = math_blas_type();
    int64_t n = 1 + math_draw(20), wrong = math_draw(n), pivots[64];
    char text[64];
    rg_linalg_options options = any_options();
    math_array a = result(type, n, n), x = result(type, n, n);
    for (int64_t i = 0; i < n * n; i++)
      math_put(&a, i, i % (n + 1) || i / (n + 1) == wrong ? 0 : 2);
    math_set(&a);
    snprintf(text, sizeof text, "element %d of", (int)wrong);
    RGT_FAILS(rg_linalg_lu(a.a, &options, pivots, x.a), RG_ERR_NUMERIC);
    RGT_TRUE(says(text));
    RGT_FAILS(rg_linalg_inverse(a.a, &options, x.a), RG_ERR_NUMERIC);
    RGT_FAILS(rg_linalg_solve(a.a, NULL, a.a, &options, x.a), RG_ERR_NUMERIC);
    RGT_TRUE(says(text));
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
    math_free(&a);
  }
}

static void wrong_options(const math_array *a, rg_array v) {
  double values[8];
  int64_t count;
  rg_linalg_options options = {.size = sizeof options, .processes = rgt_size + 1};
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, &options, values, &count, v), RG_ERR_ARG);
  options.processes = 0;
  options.block = 1025;
  RGT_FAILS(rg_linalg_cholesky(a->a, &options, v), RG_ERR_ARG);
  options.block = 0;
  options.last = 4;
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, &options, values, &count, v), RG_ERR_ARG);
  options.last = 2;
  options.high = 1;
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, &options, values, &count, v), RG_ERR_ARG);
  options.last = 0;
  options.low = 1;
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, &options, values, &count, v), RG_ERR_ARG);
  options.size = 0;
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, &options, values, &count, v), RG_ERR_ARG);
  if (!several && rgt_size > 1) {
    options = (rg_linalg_options){.size = sizeof options, .processes = 2};
    RGT_FAILS(rg_linalg_inverse(a->a, &options, v), RG_ERR_UNSUPPORTED);
    RGT_TRUE(says("ScaLAPACK"));
  }
}

static void wrong_arrays(const math_array *a, rg_array wide, rg_array other, rg_array whole) {
  double values[8];
  int64_t count, pivots[3] = {0, 3, 2};
  RGT_FAILS(rg_linalg_eigen(NULL, NULL, NULL, values, &count, NULL), RG_ERR_ARRAY);
  RGT_FAILS(rg_linalg_eigen(wide, NULL, NULL, values, &count, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_eigen(a->a, wide, NULL, values, &count, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, NULL, values, &count, other), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, NULL, NULL, &count, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_eigen(a->a, NULL, NULL, values, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_eigen(whole, NULL, NULL, values, &count, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_singular(wide, NULL, values, a->a, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_singular(wide, NULL, values, a->a, a->a), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_cholesky(a->a, NULL, wide), RG_ERR_ARG);
  RGT_TRUE(says("3 x 4") && says("3 x 3"));
  RGT_FAILS(rg_linalg_lu(a->a, NULL, NULL, a->a), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_solve(a->a, pivots, wide, NULL, wide), RG_ERR_ARG);
  RGT_FAILS(rg_linalg_solve(a->a, NULL, NULL, NULL, wide), RG_ERR_ARRAY);
  RGT_FAILS(rg_linalg_inverse(wide, NULL, a->a), RG_ERR_ARG);
}

/* A not-a-number is found on all members, and an array on other processes by those of both. */
void test_wrong_calls(void) {
  double values[8];
  int64_t count;
  math_array a = result(RG_TYPE_DOUBLE, 3, 3), wide = result(RG_TYPE_DOUBLE, 3, 4),
             other = result(RG_TYPE_FLOAT, 3, 3), whole = result(RG_TYPE_INT32, 3, 3);
  wrong_arrays(&a, wide.a, other.a, whole.a);
  wrong_options(&a, a.a);
  RGT_INT(math_differences(&a), 0);
  if (math_even && rgt_size > 1) {
    math_array even = math_make(math_even, RG_TYPE_DOUBLE, 2, (int64_t[]){3, 3});
    RGT_FAILS(rg_linalg_inverse(a.a, NULL, even.a), RG_ERR_GROUP);
    math_free(&even);
  }
  math_seed(61); /* only some ranks have drawn */
  math_put(&a, 4, NAN);
  math_set(&a);
  RGT_FAILS(rg_linalg_eigen(a.a, NULL, NULL, values, &count, NULL), RG_ERR_NUMERIC);
  math_put(&a, 4, INFINITY);
  math_set(&a);
  RGT_FAILS(rg_linalg_inverse(a.a, NULL, a.a), RG_ERR_NUMERIC);
  math_free(&whole);
  math_free(&other);
  math_free(&wide);
  math_free(&a);
  math_array none = result(RG_TYPE_DOUBLE, 0, 0);
  RGT_OK(rg_linalg_eigen(none.a, NULL, NULL, values, &count, none.a));
  RGT_INT(count, 0);
  RGT_OK(rg_linalg_inverse(none.a, NULL, none.a));
  math_free(&none);
}

/* Few processes for small matrices and slow messages, all for large ones. */
void test_cost_model(void) {
  int rows, columns;
  rgi_process_grid_choose(16, 10, 5, 1e-6, 1e-9, &rows, &columns);
  RGT_INT(rows * columns, 1);
  rgi_process_grid_choose(16, 20000, 5, 1e-6, 1e-9, &rows, &columns);
  RGT_INT(rows, 4);
  RGT_INT(columns, 4);
  rgi_process_grid_choose(16, 20000, 5, 100, 1e-9, &rows, &columns);
  RGT_INT(rows * columns, 1);
  rgi_process_grid_choose(7, 20000, 5, 1e-6, 1e-9, &rows, &columns);
  RGT_INT(rows, 2);
  RGT_INT(columns, 3);
}
