/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls by type. Sizes are ints in CBLAS: a matrix with more rows than an int can count is
 * multiplied with a vector in parts. Without a limit OpenBLAS would start a thread for each
 * processor of the node in every process. */
#include "math/blas.h"

#include <cblas.h>
#include <complex.h>

#include "distribution/type.h"
#include "shm/node.h"

int rgi_blas_type(rg_array_type type) {
  return type == RG_TYPE_FLOAT || type == RG_TYPE_DOUBLE || type == RG_TYPE_FLOAT_COMPLEX ||
         type == RG_TYPE_DOUBLE_COMPLEX;
}

static CBLAS_TRANSPOSE transpose_of(rg_array_form form) {
  return form == RG_FORM_NORMAL       ? CblasNoTrans
         : form == RG_FORM_TRANSPOSED ? CblasTrans
                                      : CblasConjTrans;
}

void rgi_blas_multiply(rg_array_type type, int64_t m, int64_t n, int64_t k, const void *alpha,
                       rgi_blas_matrix a, rgi_blas_matrix b, const void *beta, void *c,
                       int64_t ldc) {
  const blasint im = (blasint)m, in = (blasint)n, ik = (blasint)k, la = (blasint)a.ld,
                lb = (blasint)b.ld, lc = (blasint)ldc;
  const CBLAS_TRANSPOSE ta = transpose_of(a.form), tb = transpose_of(b.form);
  if (type == RG_TYPE_DOUBLE)
    cblas_dgemm(CblasRowMajor, ta, tb, im, in, ik, *(const double *)alpha, a.at, la, b.at, lb,
                *(const double *)beta, c, lc);
  else if (type == RG_TYPE_FLOAT)
    cblas_sgemm(CblasRowMajor, ta, tb, im, in, ik, *(const float *)alpha, a.at, la, b.at, lb,
                *(const float *)beta, c, lc);
  else if (type == RG_TYPE_DOUBLE_COMPLEX)
    cblas_zgemm(CblasRowMajor, ta, tb, im, in, ik, alpha, a.at, la, b.at, lb, beta, c, lc);
  else
    cblas_cgemm(CblasRowMajor, ta, tb, im, in, ik, alpha, a.at, la, b.at, lb, beta, c, lc);
}

static void multiply_vector(rg_array_type type, int64_t m, int64_t n, const void *alpha,
                            rgi_blas_matrix a, const void *x, void *y) {
  const blasint im = (blasint)m, in = (blasint)n, la = (blasint)a.ld;
  const CBLAS_TRANSPOSE ta = transpose_of(a.form);
  if (type == RG_TYPE_DOUBLE)
    cblas_dgemv(CblasRowMajor, ta, im, in, *(const double *)alpha, a.at, la, x, 1, 1, y, 1);
  else if (type == RG_TYPE_FLOAT)
    cblas_sgemv(CblasRowMajor, ta, im, in, *(const float *)alpha, a.at, la, x, 1, 1, y, 1);
  else if (type == RG_TYPE_DOUBLE_COMPLEX)
    cblas_zgemv(CblasRowMajor, ta, im, in, alpha, a.at, la, x, 1, rgi_blas_one(type), y, 1);
  else
    cblas_cgemv(CblasRowMajor, ta, im, in, alpha, a.at, la, x, 1, rgi_blas_one(type), y, 1);
}

void rgi_blas_vector(rg_array_type type, int64_t m, int64_t n, const void *alpha, rgi_blas_matrix a,
                     const void *x, void *y) {
  const int64_t most = 1 << 30, element = (int64_t)rgi_type_size(type, 0); /* rows at a time */
  for (int64_t i = 0; i < m; i += most) {
    int64_t rows = m - i < most ? m - i : most;
    int64_t dx = a.form == RG_FORM_NORMAL ? 0 : i, dy = a.form == RG_FORM_NORMAL ? i : 0;
    rgi_blas_matrix part = {a.form, (const char *)a.at + i * a.ld * element, a.ld};
    multiply_vector(type, rows, n, alpha, part, (const char *)x + dx * element,
                    (char *)y + dy * element);
  }
}

const void *rgi_blas_one(rg_array_type type) {
  static const double wide[2] = {1, 0};
  static const float narrow[2] = {1, 0};
  return type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX ? (const void *)narrow : wide;
}

int rgi_blas_begin(void) {
  int before = openblas_get_num_threads();
  int share = rgi_node.n > 0 ? rgi_node.processors / rgi_node.n : 1;
  if (share < 1)
    share = 1;
  if (before > share)
    openblas_set_num_threads(share);
  return before;
}

void rgi_blas_end(int before) {
  if (openblas_get_num_threads() != before)
    openblas_set_num_threads(before);
}
