/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Linear algebra on distributed arrays by ScaLAPACK and LAPACK: eigenvalues, singular values,
 * Cholesky's factor, LU, linear equations and inverses. The library is libregroup-linalg.
 *
 * Callers: every member of the array's group, with the same arguments. Arrays have 2 dimensions and
 * may be divided in any way; all arrays of a call have the same type (RG_TYPE_FLOAT,
 * RG_TYPE_DOUBLE, RG_TYPE_FLOAT_COMPLEX or RG_TYPE_DOUBLE_COMPLEX) and are on the same processes.
 * An array that gets a result may be one that the call reads; the arrays that get results are
 * different ones. Other arrays do not change. Each call begins and ends with the effect of
 * rg_array_sync on its arrays.
 *
 * How: some members, a grid of processes, get their tiles of the matrix into local memory, compute,
 * and put their tiles of the result. The other members wait. The library chooses the grid by the
 * extent of the matrix, the processors, and the costs of messages (RG_TUNING); small matrices are
 * processed by one process.
 *  - Several processes: by ScaLAPACK, over communicators that the call makes and frees (group.h,
 *    rg_group_comm, tells what that requires).
 *  - One process, rank 0 of the group: by LAPACK.
 * BLACS, which is a part of ScaLAPACK, permits calls by one thread of a process at a time.
 * Both libraries are loaded when the first call needs them. RG_SCALAPACK and RG_LAPACK name them;
 * those that the program has loaded already are preferred. Without ScaLAPACK all matrices are
 * processed by one process. In a job that survives (RG_SURVIVE) it is the same: ScaLAPACK would
 * wait for a dead process for ever. If a process dies there, the call returns RG_ERR_PROC_FAILED on
 * the survivors, and the arrays that get results have undefined elements.
 *
 * Cost: each element moves once to the grid, and each element of a result once back. Extra memory
 * of each process in the grid: its part of each matrix of the call, what LAPACK or ScaLAPACK asks
 * for (for eigenvectors twice the matrix again), and 64 rows of its part. Processes wait for the
 * grid politely, but not longer than RG_TIMEOUT.
 *
 * Errors, the same on every member; the results are not changed then: RG_ERR_ARRAY, RG_ERR_ARG
 * (types or shapes do not match), RG_ERR_GROUP (the arrays are on different processes),
 * RG_ERR_NUMERIC (see each function; and always if a matrix has an element that is not a number, or
 * is infinite), RG_ERR_NOMEM (the message says how many bytes are missing, and what would let
 * several processes compute), RG_ERR_LIMIT (more than 2^31 - 1 rows or columns; one process: more
 * than 32,000 for eigenvalues or singular values), RG_ERR_UNSUPPORTED (LAPACK cannot be loaded; or
 * options.processes > 1 and ScaLAPACK cannot be loaded or may not be used: the message says what is
 * missing), RG_ERR_MPI. */
#ifndef REGROUP_LINALG_H
#define REGROUP_LINALG_H

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What may be chosen. The caller sets `size`; NULL in place of options is the default of all. */
typedef struct {
  size_t size;   /* sizeof(rg_linalg_options): error.h */
  int processes; /* how many compute: 1 to the group's size; 0: the library chooses */
  int block;     /* the extent of ScaLAPACK's blocks, at most 1024; 0: the library chooses */
  /* rg_linalg_eigen: which eigenvalues, counted from 0 in ascending order: first <= i < last.
   * Both 0: all. Not together with low and high. */
  int64_t first, last;
  double low, high; /* rg_linalg_eigen: those with low < value <= high. Both 0: all. */
} rg_linalg_options;

/* The eigenvalues of the n x n matrix a, which is symmetric (real types) or Hermitian: a x =
 * value x. b not NULL: of the generalised problem a x = value b x, with b positive definite too.
 * Of a and b only the elements with row >= column matter. values has room for n numbers: gets those
 * that options choose, in ascending order. *count is their number. vectors not NULL: column i of
 * this array gets the eigenvector of values[i], with vectors^H vectors = 1 (with b: vectors^H b
 * vectors = 1); it is n x m with m >= *count, and columns from *count on do not change.
 * Method: divide and conquer (syevd, heevd). A choice of values saves no time. Errors:
 * RG_ERR_NUMERIC (b is not positive definite: the message names the leading minor; no
 * convergence); RG_ERR_ARG (vectors has too few columns). */
RG_API int rg_linalg_eigen(rg_array a, rg_array b, const rg_linalg_options *options,
                           double values[], int64_t *count, rg_array vectors);

/* The singular values of the m x n matrix a in descending order: values has room for k = min(m, n).
 * u, vh: both NULL, or m x k and k x n arrays with a = u diag(values) vh, where the columns of u
 * and the rows of vh are orthonormal. Errors: RG_ERR_NUMERIC (no convergence). */
RG_API int rg_linalg_singular(rg_array a, const rg_linalg_options *options, double values[],
                              rg_array u, rg_array vh);

/* The lower triangular n x n matrix with a = factor factor^H, with zeros above the diagonal. Of a
 * only the elements with row >= column matter. Errors: RG_ERR_NUMERIC (not positive definite: the
 * message names the leading minor). */
RG_API int rg_linalg_cholesky(rg_array a, const rg_linalg_options *options, rg_array factor);

/* The factors of the n x n matrix a = p l u with partial pivoting: u is in and above the diagonal
 * of factors, and l, whose diagonal is 1, below. Row i was interchanged with row pivots[i], for i =
 * 0, 1, ... n - 1 in this order. Errors: RG_ERR_NUMERIC (an element of u's diagonal is exactly 0;
 * the message names it). A matrix that is nearly singular is not detected. */
RG_API int rg_linalg_lu(rg_array a, const rg_linalg_options *options, int64_t pivots[],
                        rg_array factors);

/* The solution x of a x = b, n x m arrays. pivots NULL: a is the matrix; else a is the `factors`
 * of rg_linalg_lu and these are its pivots. Errors: as for rg_linalg_lu. */
RG_API int rg_linalg_solve(rg_array a, const int64_t pivots[], rg_array b,
                           const rg_linalg_options *options, rg_array x);

/* The inverse of a. Errors: as for rg_linalg_lu. */
RG_API int rg_linalg_inverse(rg_array a, const rg_linalg_options *options, rg_array inverse);

/* The names of the libraries that calls use, for reports: NULL where it cannot be loaded, or is not
 * to be used. Local. The strings belong to the library. */
RG_API int rg_linalg_libraries(const char **lapack, const char **scalapack);

#ifdef __cplusplus
}
#endif
#endif
