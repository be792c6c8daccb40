/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Matrices: products, transposes, diagonals, rows and columns, as C orders them. */
#include <math.h>
#include <regroup/array_math.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

static rg_array_form form_of(const char *call, int g, char form) {
  switch (form) {
  case 'n':
  case 'N':
    return RG_FORM_NORMAL;
  case 't':
  case 'T':
    return RG_FORM_TRANSPOSED;
  case 'c':
  case 'C':
    return RG_FORM_CONJUGATED;
  default:
    rgi_ga_error_end(call, g, "the form of a matrix is '%c'; it may be n, t or c", form);
  }
}

/* c[0..m-1][0..n-1] = alpha op(a) op(b) + beta c. */
static void multiply(const char *call, char ta, char tb, int64_t m, int64_t n, int64_t k,
                     const void *alpha, int g_a, int g_b, const void *beta, int g_c) {
  const rg_array_form fa = form_of(call, g_a, ta), fb = form_of(call, g_b, tb);
  const int64_t zero[2] = {0}, c[2] = {m, n};
  const int64_t a[2] = {fa ? k : m, fa ? m : k}, b[2] = {fb ? n : k, fb ? k : n};
  rgi_ga_error_check(call, g_c,
                     rg_array_multiply_patch(fa, fb, alpha, rgi_ga_handle_array(call, g_a), zero, a,
                                             rgi_ga_handle_array(call, g_b), zero, b, beta,
                                             rgi_ga_handle_array(call, g_c), zero, c));
}

#define GEMM(letter, kind)                                                                         \
  void rgi_ga_##letter##gemm(char ta, char tb, int64_t m, int64_t n, int64_t k, kind alpha,        \
                             int g_a, int g_b, kind beta, int g_c) {                               \
    multiply(__func__, ta, tb, m, n, k, &alpha, g_a, g_b, &beta, g_c);                             \
  }
GEMM(s, float)
GEMM(d, double)
GEMM(c, SingleComplex)
GEMM(z, DoubleComplex)

/* A patch of more dimensions as a matrix: all but two of its extents are 1. */
typedef struct {
  int g;
  const int64_t *lo;
  rgi_ga_patch patch;
  int64_t shape[2];
  rg_array matrix;
} flat_patch;

static int64_t elements_of(const flat_patch *flat) {
  int64_t count = 1;
  for (int d = 0; d < rgi_ga_handle_dims(flat->g); d++)
    count *= flat->patch.end[d] - flat->lo[d];
  return count;
}

static void copy_flat(const char *call, flat_patch *flat, int back) {
  static const int64_t zero[2];
  rgi_ga_error_check(call, flat->g,
                     back ? rg_array_copy_patch(flat->matrix, zero, flat->shape, flat->patch.array,
                                                flat->lo, flat->patch.end, 0)
                          : rg_array_copy_patch(flat->patch.array, flat->lo, flat->patch.end,
                                                flat->matrix, zero, flat->shape, 0));
}

static void flatten(const char *call, flat_patch *flat, int64_t rows, int64_t columns) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_group group;
  flat->shape[0] = rows;
  flat->shape[1] = columns;
  rgi_ga_error_check(call, flat->g, rg_array_info(flat->patch.array, &spec));
  rgi_ga_error_check(call, flat->g, rg_array_group(flat->patch.array, &group));
  rgi_ga_error_check(call, flat->g,
                     rg_array_create_simple(group, spec.type, 2, flat->shape, &flat->matrix));
  copy_flat(call, flat, 0);
}

/* From the numbers of elements m k, k n and m n. */
static int64_t extent(int64_t one, int64_t other, int64_t third) {
  return third ? llround(sqrt((double)one * (double)other / (double)third)) : 0;
}

static void multiply_flat(const char *call, rg_array_form fa, rg_array_form fb, const void *alpha,
                          const void *beta, flat_patch flat[3]) {
  int64_t a = elements_of(&flat[0]), b = elements_of(&flat[1]), c = elements_of(&flat[2]);
  int64_t m = extent(a, c, b), n = extent(b, c, a), k = extent(a, b, c);
  flatten(call, &flat[0], fa ? k : m, fa ? m : k);
  flatten(call, &flat[1], fb ? n : k, fb ? k : n);
  flatten(call, &flat[2], m, n);
  rgi_ga_error_check(
      call, flat[2].g,
      rg_array_multiply(fa, fb, alpha, flat[0].matrix, flat[1].matrix, beta, flat[2].matrix));
  copy_flat(call, &flat[2], 1);
  for (int i = 0; i < 3; i++)
    rgi_ga_error_check(call, flat[i].g, rg_array_free(&flat[i].matrix));
}

void rgi_ga_matmul_patch(char transa, char transb, const void *alpha, const void *beta, int g_a,
                         const int64_t alo[], const int64_t ahi[], int g_b, const int64_t blo[],
                         const int64_t bhi[], int g_c, const int64_t clo[], const int64_t chi[]) {
  rgi_ga_patch a = RGI_GA_PATCH(g_a, ahi), b = RGI_GA_PATCH(g_b, bhi), c = RGI_GA_PATCH(g_c, chi);
  rg_array_form fa = form_of(__func__, g_a, transa), fb = form_of(__func__, g_b, transb);
  if (rgi_ga_ndim(g_a) == 2 && rgi_ga_ndim(g_b) == 2 && rgi_ga_ndim(g_c) == 2) {
    RGI_GA_TRY(g_c, rg_array_multiply_patch(fa, fb, alpha, a.array, alo, a.end, b.array, blo, b.end,
                                            beta, c.array, clo, c.end));
    return;
  }
  flat_patch flat[3] = {{.g = g_a, .lo = alo, .patch = a},
                        {.g = g_b, .lo = blo, .patch = b},
                        {.g = g_c, .lo = clo, .patch = c}};
  multiply_flat(__func__, fa, fb, alpha, beta, flat);
}

void rgi_ga_transpose(int g_a, int g_b) {
  RGI_GA_TRY(g_a, rg_array_transpose(RGI_GA_ARRAY(g_a), RGI_GA_ARRAY(g_b)));
}

void rgi_ga_symmetrize(int g_a) {
  RGI_GA_TRY(g_a, rg_array_symmetrize(RGI_GA_ARRAY(g_a)));
}

void rgi_ga_scale_rows(int g_a, int g_v) {
  RGI_GA_TRY(g_a, rg_array_scale_along(RGI_GA_ARRAY(g_a), 0, RGI_GA_ARRAY(g_v)));
}

void rgi_ga_scale_cols(int g_a, int g_v) {
  RGI_GA_TRY(g_a, rg_array_scale_along(RGI_GA_ARRAY(g_a), 1, RGI_GA_ARRAY(g_v)));
}

void rgi_ga_get_diag(int g_a, int g_v) {
  RGI_GA_TRY(g_a, rg_array_diagonal(RG_DIAGONAL_GET, RGI_GA_ARRAY(g_a), RGI_GA_ARRAY(g_v), NULL));
}

void rgi_ga_set_diagonal(int g_a, int g_v) {
  RGI_GA_TRY(g_a, rg_array_diagonal(RG_DIAGONAL_SET, RGI_GA_ARRAY(g_a), RGI_GA_ARRAY(g_v), NULL));
}

void rgi_ga_add_diagonal(int g_a, int g_v) {
  RGI_GA_TRY(g_a, rg_array_diagonal(RG_DIAGONAL_ADD, RGI_GA_ARRAY(g_a), RGI_GA_ARRAY(g_v), NULL));
}

void rgi_ga_shift_diagonal(int g_a, const void *c) {
  RGI_GA_TRY(g_a, rg_array_diagonal(RG_DIAGONAL_ADD, RGI_GA_ARRAY(g_a), NULL, c));
}

void rgi_ga_zero_diagonal(int g_a) {
  static const double zero[4]; /* of any type */
  RGI_GA_TRY(g_a, rg_array_diagonal(RG_DIAGONAL_SET, RGI_GA_ARRAY(g_a), NULL, zero));
}
