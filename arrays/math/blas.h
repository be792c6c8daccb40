/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * CBLAS for any of the four types that it knows, with as many threads as the node has processors
 * for each of its processes. */
#ifndef RGI_BLAS_H
#define RGI_BLAS_H

#include <regroup/array_math.h>

/* Whether CBLAS knows the type. */
int rgi_blas_type(rg_array_type type);

/* A matrix in memory, C order, leading dimension ld; form: op(). */
typedef struct {
  rg_array_form form;
  const void *at;
  int64_t ld;
} rgi_blas_matrix;

/* c = alpha op(a) op(b) + beta c; op(a) is m x k, op(b) is k x n. Extents and leading
 * dimensions fit into an int. */
typedef struct {
  rg_array_type type;
  int64_t m, n, k;
  const void *alpha, *beta;
  rgi_blas_matrix a, b;
  void *c;
  int64_t ldc;
} rgi_blas_product;
void rgi_blas_multiply(const rgi_blas_product *product);

/* y += alpha op(a) x, where a itself is m x n; x and y without gaps. Its leading
 * dimension fits into an int. */
typedef struct {
  rg_array_type type;
  int64_t m, n;
  const void *alpha;
  rgi_blas_matrix a;
  const char *x;
  char *y;
} rgi_blas_vector_product;
void rgi_blas_vector(const rgi_blas_vector_product *product);

/* 1 of a type. */
RG_API const void *rgi_blas_one(rg_array_type type);

/* Between these two CBLAS uses at most the node's processors divided by its processes as threads;
 * afterwards as many as before, which _begin returns. libregroup-linalg.so calls these, too. */
RG_API int rgi_blas_begin(void);
RG_API void rgi_blas_end(int before);

#endif
