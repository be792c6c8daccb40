/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * CBLAS for any of the four types that it knows, on as many processors as are the
 * caller's share. */
#ifndef RGI_BLAS_H
#define RGI_BLAS_H

#include <regroup/array_math.h>

/* Whether CBLAS has the type. */
int rgi_blas_type(rg_type type);

/* A matrix in memory, C order, leading dimension ld; form: op(). */
typedef struct {
  rg_form form;
  const void *at;
  int64_t ld;
} rgi_blas_matrix;

/* c = alpha op(a) op(b) + beta c; op(a) is m x k, op(b) is k x n. Extents and leading
 * dimensions fit into an int. */
void rgi_blas_multiply(rg_type type, int64_t m, int64_t n, int64_t k, const void *alpha,
                       rgi_blas_matrix a, rgi_blas_matrix b, const void *beta, void *c,
                       int64_t ldc);

/* y += alpha op(a) x, where a itself is m x n; x and y without gaps. Its leading
 * dimension fits into an int. */
void rgi_blas_vector(rg_type type, int64_t m, int64_t n, const void *alpha, rgi_blas_matrix a,
                     const void *x, void *y);

/* 1 of a type. */
const void *rgi_blas_one(rg_type type);

/* Between these two CBLAS uses no more threads than the caller's share of the node's
 * processors; afterwards as many as before. */
int rgi_blas_begin(void);
void rgi_blas_end(int before);

#endif
