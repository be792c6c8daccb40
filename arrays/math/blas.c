/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls by type. Sizes are ints in CBLAS: a matrix with more rows than an int can count is
 * multiplied with a vector in parts. Without a limit BLAS would start a thread for each
 * processor of the node in every process. */
#include "math/blas.h"

#ifdef RG_CBLAS
#include RG_CBLAS
#else
#include <cblas.h>
#endif
#include <complex.h>

#include "distribution/type.h"
#include "shm/node.h"

/* The numbers of threads of OpenBLAS, MKL and BLIS: those of the one that is linked are there. */
#pragma weak openblas_get_num_threads
#pragma weak openblas_set_num_threads
#pragma weak MKL_Get_Max_Threads
#pragma weak MKL_Set_Num_Threads
#pragma weak bli_thread_get_num_threads
#pragma weak bli_thread_set_num_threads
extern int openblas_get_num_threads(void), MKL_Get_Max_Threads(void);
extern void openblas_set_num_threads(int n), MKL_Set_Num_Threads(int n);
extern int64_t bli_thread_get_num_threads(void);
extern void bli_thread_set_num_threads(int64_t n);

static int threads(void) {
  return openblas_get_num_threads     ? openblas_get_num_threads()
         : MKL_Get_Max_Threads        ? MKL_Get_Max_Threads()
         : bli_thread_get_num_threads ? (int)bli_thread_get_num_threads()
                                      : 1;
}

static void set_threads(int n) {
  if (openblas_set_num_threads)
    openblas_set_num_threads(n);
  else if (MKL_Set_Num_Threads)
    MKL_Set_Num_Threads(n);
  else if (bli_thread_set_num_threads)
    bli_thread_set_num_threads(n);
}

int rgi_blas_type(rg_array_type type) {
  return type == RG_TYPE_FLOAT || type == RG_TYPE_DOUBLE || type == RG_TYPE_FLOAT_COMPLEX ||
         type == RG_TYPE_DOUBLE_COMPLEX;
}

/* The enumeration's own name is not the same in every cblas.h. */
static int transpose_of(rg_array_form form) {
  return form == RG_FORM_NORMAL       ? CblasNoTrans
         : form == RG_FORM_TRANSPOSED ? CblasTrans
                                      : CblasConjTrans;
}

void rgi_blas_multiply(const rgi_blas_product *product) {
  const int m = (int)product->m, n = (int)product->n, k = (int)product->k, la = (int)product->a.ld,
            lb = (int)product->b.ld, lc = (int)product->ldc;
  const int ta = transpose_of(product->a.form), tb = transpose_of(product->b.form);
  const void *alpha = product->alpha, *beta = product->beta, *a = product->a.at, *b = product->b.at;
  if (product->type == RG_TYPE_DOUBLE)
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, *(const double *)alpha, a, la, b, lb,
                *(const double *)beta, product->c, lc);
  else if (product->type == RG_TYPE_FLOAT)
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, *(const float *)alpha, a, la, b, lb,
                *(const float *)beta, product->c, lc);
  else if (product->type == RG_TYPE_DOUBLE_COMPLEX)
    cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, la, b, lb, beta, product->c, lc);
  else
    cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, la, b, lb, beta, product->c, lc);
}

static void multiply_vector(const rgi_blas_vector_product *product) {
  const int m = (int)product->m, n = (int)product->n, la = (int)product->a.ld;
  const int ta = transpose_of(product->a.form);
  const void *alpha = product->alpha, *a = product->a.at, *x = product->x,
             *one = rgi_blas_one(product->type);
  void *y = product->y;
  if (product->type == RG_TYPE_DOUBLE)
    cblas_dgemv(CblasRowMajor, ta, m, n, *(const double *)alpha, a, la, x, 1, 1, y, 1);
  else if (product->type == RG_TYPE_FLOAT)
    cblas_sgemv(CblasRowMajor, ta, m, n, *(const float *)alpha, a, la, x, 1, 1, y, 1);
  else if (product->type == RG_TYPE_DOUBLE_COMPLEX)
    cblas_zgemv(CblasRowMajor, ta, m, n, alpha, a, la, x, 1, one, y, 1);
  else
    cblas_cgemv(CblasRowMajor, ta, m, n, alpha, a, la, x, 1, one, y, 1);
}

void rgi_blas_vector(const rgi_blas_vector_product *product) {
  const int64_t most = 1 << 30,
                element = (int64_t)rgi_type_size(product->type, 0); /* rows at a time */
  for (int64_t i = 0; i < product->m; i += most) {
    int normal = product->a.form == RG_FORM_NORMAL;
    rgi_blas_vector_product part = *product;
    part.m = product->m - i < most ? product->m - i : most;
    part.a.at = (const char *)product->a.at + i * product->a.ld * element;
    part.x += normal ? 0 : i * element;
    part.y += normal ? i * element : 0;
    multiply_vector(&part);
  }
}

const void *rgi_blas_one(rg_array_type type) {
  static const double wide[2] = {1, 0};
  static const float narrow[2] = {1, 0};
  return type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX ? (const void *)narrow : wide;
}

int rgi_blas_begin(void) {
  int before = threads();
  int share = rgi_node.n > 0 ? rgi_node.processors / rgi_node.n : 1;
  if (share < 1)
    share = 1;
  if (before > share)
    set_threads(share);
  return before;
}

void rgi_blas_end(int before) {
  if (threads() != before)
    set_threads(before);
}
