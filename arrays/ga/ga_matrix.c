/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Matrices: products, transposes, diagonals, rows and columns, as C orders them. */
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

void rgi_ga_matmul_patch(char transa, char transb, const void *alpha, const void *beta, int g_a,
                         const int64_t alo[], const int64_t ahi[], int g_b, const int64_t blo[],
                         const int64_t bhi[], int g_c, const int64_t clo[], const int64_t chi[]) {
  rgi_ga_patch a = RGI_GA_PATCH(g_a, ahi), b = RGI_GA_PATCH(g_b, bhi), c = RGI_GA_PATCH(g_c, chi);
  RGI_GA_TRY(g_c, rg_array_multiply_patch(form_of(__func__, g_a, transa),
                                          form_of(__func__, g_b, transb), alpha, a.array, alo,
                                          a.end, b.array, blo, b.end, beta, c.array, clo, c.end));
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
