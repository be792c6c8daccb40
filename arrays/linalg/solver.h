/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What all calls have in common: the checks of arrays and options, the grid, workspaces, and the
 * exchange of errors. Every member of the group makes every call of this header, in the same order;
 * what only the grid does stands between them. */
#ifndef RGI_SOLVER_H
#define RGI_SOLVER_H

#include "linalg/matrix.h"

typedef struct {
  const char *call;
  rg_group group;
  rg_array_type type;
  int64_t rows, columns; /* of the first array */
  rg_linalg_options options;
  rgi_process_grid grid;
  double started, moved; /* seconds: for the log */
  int threads;           /* of BLAS before the call; 0: not known */
} rgi_solver;

/* Checks the first array and the options; then each other one: `name` of the extents given. No
 * communication. */
int rgi_solver_check(const char *call, rg_array a, const rg_linalg_options *options,
                     rgi_solver *solver);
int rgi_solver_check_square(const rgi_solver *solver);
int rgi_solver_check_other(const rgi_solver *solver, const char *name, rg_array other, int64_t rows,
                           int64_t columns);

/* Synchronises, refuses an input (n of them) with elements that are not finite, and makes the grid.
 * After it, and also after its error, rgi_solver_end. work: rgi_process_grid_make. */
int rgi_solver_begin(rgi_solver *solver, int n, const rg_array inputs[], double work);

/* Eigenvalues and singular values: RG_ERR_LIMIT if one process has to compute too many. */
int rgi_solver_check_one(const rgi_solver *solver);

/* The caller's error as that of all. */
int rgi_solver_share(const rgi_solver *solver, int code);

/* Gets the part of an input; fails on the caller alone. */
int rgi_solver_get(rgi_solver *solver, rg_array a, rgi_matrix *matrix);

/* Puts columns first to last - 1 of a matrix into an array that gets results, and synchronises it.
 * code: the caller's error so far; after an error of any member nothing is put. */
int rgi_solver_put(rgi_solver *solver, int code, const rgi_matrix *matrix, int64_t first,
                   int64_t last, rg_array a);

/* Frees the grid; writes the times to the log. Returns code. */
int rgi_solver_end(rgi_solver *solver, int code);

/* n real numbers of the solver's type, which rank 0 has, as doubles on all. */
int rgi_solver_values(const rgi_solver *solver, const void *real, int64_t n, double values[]);

/* The memory of a routine. For the first call, the query, the sizes are -1. */
typedef struct {
  void *work, *rwork; /* rwork: real numbers for complex types */
  int *iwork;
  int lwork, lrwork, liwork;
  int64_t more; /* set by the routine: elements of work beyond what its query tells */
} rgi_solver_memory;

/* A routine that needs memory: calls it and returns its info. */
typedef int rgi_solver_routine(void *state, rgi_solver_memory *memory);

/* On the grid: asks the routine for its needs, and calls it. least: the least elements of rwork,
 * where the routine does not tell. *info: 0 outside the grid. */
int rgi_solver_compute(const rgi_solver *solver, rgi_solver_routine *routine, void *state,
                       int64_t least, int *info);

#endif
