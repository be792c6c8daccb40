/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Linear algebra. Global Arrays' routines are Fortran's: to C, a matrix is the transpose of what
 * they compute with, and eigenvectors are rows. */
#include <regroup/array_math.h>
#include <regroup/linalg.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

/* An array with the extents of a in reverse, on its group. */
static rg_array turned(const char *call, int g, rg_array a) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_group group;
  rg_array made = NULL;
  rgi_ga_error_check(call, g, rg_array_info(a, &spec));
  rgi_ga_error_check(call, g, rg_array_group(a, &group));
  if (spec.dims != 2)
    rgi_ga_error_end(call, g, "it has %d dimensions; a matrix has 2", spec.dims);
  const int64_t shape[2] = {spec.shape[1], spec.shape[0]};
  rgi_ga_error_check(call, g, rg_array_create_simple(group, spec.type, 2, shape, &made));
  return made;
}

static rg_array transpose_of(const char *call, int g, rg_array a) {
  rg_array made = turned(call, g, a);
  rgi_ga_error_check(call, g, rg_array_transpose(a, made));
  return made;
}

/* g_s and g_v may be 0. */
static void diagonalise(const char *call, int g_a, int g_s, int g_v, void *eval, int processes) {
  const rg_linalg_options options = {.size = sizeof options, .processes = processes};
  rg_array a = rgi_ga_handle_array(call, g_a), s = g_s ? rgi_ga_handle_array(call, g_s) : NULL;
  rg_array v = rgi_ga_handle_array(call, g_v), columns = turned(call, g_v, v);
  int64_t count;
  rgi_ga_error_check(call, g_a, rg_linalg_eigen(a, s, &options, eval, &count, columns));
  rgi_ga_error_check(call, g_v, rg_array_transpose(columns, v));
  rgi_ga_error_check(call, g_v, rg_array_free(&columns));
}

void rgi_ga_diag(int g_a, int g_s, int g_v, void *eval) {
  diagonalise(__func__, g_a, g_s, g_v, eval, 0);
}

void rgi_ga_diag_reuse(int reuse, int g_a, int g_s, int g_v, void *eval) {
  (void)reuse;
  diagonalise(__func__, g_a, g_s, g_v, eval, 0);
}

void rgi_ga_diag_seq(int g_a, int g_s, int g_v, void *eval) {
  diagonalise(__func__, g_a, g_s, g_v, eval, 1);
}

void rgi_ga_diag_std(int g_a, int g_v, void *eval) {
  diagonalise(__func__, g_a, 0, g_v, eval, 0);
}

void rgi_ga_diag_std_seq(int g_a, int g_v, void *eval) {
  diagonalise(__func__, g_a, 0, g_v, eval, 1);
}

/* Solves m x = b^T and stores x^T in b. */
static int solve(const char *call, int g_b, rg_array m) {
  rg_array b = rgi_ga_handle_array(call, g_b), x = transpose_of(call, g_b, b);
  int code = rg_linalg_solve(m, NULL, x, NULL, x);
  if (code == RG_SUCCESS)
    rgi_ga_error_check(call, g_b, rg_array_transpose(x, b));
  else if (code != RG_ERR_NUMERIC)
    rgi_ga_error_check(call, g_b, code);
  rgi_ga_error_check(call, g_b, rg_array_free(&x));
  return code;
}

void rgi_ga_lu_solve(char tran, int g_a, int g_b) {
  rg_array a = RGI_GA_ARRAY(g_a), turned_a = NULL;
  if (!rgi_ga_patch_is_transposed(tran))
    turned_a = transpose_of(__func__, g_a, a);
  RGI_GA_TRY(g_a, solve(__func__, g_b, turned_a ? turned_a : a));
  RGI_GA_TRY(g_a, rg_array_free(&turned_a));
}

/* 0, or 1 if the symmetric matrix is not positive definite: then g_b is unchanged. */
int rgi_ga_llt_solve(int g_a, int g_b) {
  rg_array a = RGI_GA_ARRAY(g_a), factor = NULL;
  RGI_GA_TRY(g_a, rg_array_dup(a, &factor));
  int code = rg_linalg_cholesky(a, NULL, factor);
  if (code != RG_ERR_NUMERIC)
    RGI_GA_TRY(g_a, code);
  RGI_GA_TRY(g_a, rg_array_free(&factor));
  return code == RG_SUCCESS ? solve(__func__, g_b, a) != RG_SUCCESS : 1;
}

/* By LU: the same result, also where the matrix is not positive definite. */
int rgi_ga_solve(int g_a, int g_b) {
  rg_array a = transpose_of(__func__, g_a, RGI_GA_ARRAY(g_a));
  RGI_GA_TRY(g_a, solve(__func__, g_b, a));
  RGI_GA_TRY(g_a, rg_array_free(&a));
  return 0;
}

/* 0, or 1 if there is no inverse. */
int rgi_ga_spd_invert(int g_a) {
  rg_array a = RGI_GA_ARRAY(g_a);
  int code = rg_linalg_inverse(a, NULL, a);
  if (code != RG_ERR_NUMERIC)
    RGI_GA_TRY(g_a, code);
  return code != RG_SUCCESS;
}
