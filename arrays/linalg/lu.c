/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * LU, linear equations and the inverse. ScaLAPACK keeps the pivots of a row with that row, on all
 * columns of the grid; callers see those of all rows, counted from 0. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "linalg/routine.h"
#include "linalg/solver.h"

typedef struct {
  rgi_solver *solver;
  rgi_matrix a, b;
  int *pivots; /* of the caller's rows, and one block more, which ScaLAPACK uses */
} lu_problem;

/* --- routines ------------------------------------------------------------------------------ */

typedef void lapack_getrf(const int *m, const int *n, void *a, const int *lda, int *pivots,
                          int *info);
typedef void scalapack_getrf(const int *m, const int *n, void *a, const int *ia, const int *ja,
                             const int *desca, int *pivots, int *info);

static int factor(const lu_problem *problem) {
  const rgi_matrix *a = &problem->a;
  const int one = 1, several = rgi_process_grid_is_several(a->grid);
  rgi_routine *getrf = rgi_routine_find(several, a->type, "getrf");
  int info = 0;
  if (several)
    ((scalapack_getrf *)getrf)(&a->rows, &a->rows, a->part, &one, &one, a->descriptor,
                               problem->pivots, &info);
  else
    ((lapack_getrf *)getrf)(&a->rows, &a->rows, a->part, &a->ld, problem->pivots, &info);
  return info < 0 ? rgi_error(RG_ERR_INTERNAL, "%s: getrf returned %d", problem->solver->call, info)
                  : RG_SUCCESS;
}

typedef void lapack_getrs(const char *form, const int *n, const int *m, const void *a,
                          const int *lda, const int *pivots, void *b, const int *ldb, int *info,
                          size_t length);
typedef void scalapack_getrs(const char *form, const int *n, const int *m, const void *a,
                             const int *ia, const int *ja, const int *desca, const int *pivots,
                             void *b, const int *ib, const int *jb, const int *descb, int *info,
                             size_t length);

static int substitute(const lu_problem *problem) {
  const rgi_matrix *a = &problem->a, *b = &problem->b;
  const int one = 1, several = rgi_process_grid_is_several(a->grid);
  rgi_routine *getrs = rgi_routine_find(several, a->type, "getrs");
  int info = 0;
  if (several)
    ((scalapack_getrs *)getrs)("N", &a->rows, &b->columns, a->part, &one, &one, a->descriptor,
                               problem->pivots, b->part, &one, &one, b->descriptor, &info, 1);
  else
    ((lapack_getrs *)getrs)("N", &a->rows, &b->columns, a->part, &a->ld, problem->pivots, b->part,
                            &b->ld, &info, 1);
  return info ? rgi_error(RG_ERR_INTERNAL, "%s: getrs returned %d", problem->solver->call, info)
              : RG_SUCCESS;
}

typedef void lapack_getri(const int *n, void *a, const int *lda, const int *pivots, void *work,
                          const int *lwork, int *info);
typedef void scalapack_getri(const int *n, void *a, const int *ia, const int *ja, const int *desca,
                             const int *pivots, void *work, const int *lwork, int *iwork,
                             const int *liwork, int *info);

static int invert(void *state, rgi_solver_memory *memory) {
  const lu_problem *problem = state;
  const rgi_matrix *a = &problem->a;
  const int one = 1, several = rgi_process_grid_is_several(a->grid);
  rgi_routine *getri = rgi_routine_find(several, a->type, "getri");
  int info = 0;
  if (several)
    ((scalapack_getri *)getri)(&a->rows, a->part, &one, &one, a->descriptor, problem->pivots,
                               memory->work, &memory->lwork, memory->iwork, &memory->liwork, &info);
  else
    ((lapack_getri *)getri)(&a->rows, a->part, &a->ld, problem->pivots, memory->work,
                            &memory->lwork, &info);
  return info;
}

/* --- the diagonal of u ------------------------------------------------------------------------ */

static int is_zero(const rgi_matrix *a, int i, int j) {
  const char *at = a->part + ((size_t)j * (size_t)a->ld + (size_t)i) * a->element;
  const float *narrow = (const float *)(const void *)at;
  const double *wide = (const double *)(const void *)at;
  switch (a->type) {
  case RG_TYPE_FLOAT:
    return narrow[0] == 0;
  case RG_TYPE_FLOAT_COMPLEX:
    return narrow[0] == 0 && narrow[1] == 0;
  case RG_TYPE_DOUBLE:
    return wide[0] == 0;
  default:
    return wide[0] == 0 && wide[1] == 0;
  }
}

/* The first element of the diagonal in the caller's part that is 0; the number of rows: none. */
static int64_t first_zero(const rgi_matrix *a) {
  const rgi_process_grid *grid = a->grid;
  for (int j = 0; j < a->local_columns; j++) {
    int64_t at = rgi_matrix_index(j, grid->block, grid->column, grid->columns),
            block = at / grid->block;
    int i = (int)(block / grid->rows * grid->block + at % grid->block);
    if (at < a->rows && block % grid->rows == grid->row && is_zero(a, i, j))
      return at;
  }
  return a->rows;
}

/* On all members. ScaLAPACK 2.2's own answer does not always tell. */
static int check_diagonal(const lu_problem *problem) {
  const rgi_matrix *a = &problem->a;
  int64_t first = first_zero(a);
  RGI_TRY(rg_allreduce(problem->solver->group, MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN));
  if (first < a->rows)
    return rgi_error(RG_ERR_NUMERIC,
                     "%s: a is singular: element %lld of u's diagonal, from 0, is 0",
                     problem->solver->call, (long long)first);
  return RG_SUCCESS;
}

/* --- pivots ---------------------------------------------------------------------------------- */

static int64_t row_of(const rgi_matrix *a, int local) {
  return rgi_matrix_index(local, a->grid->block, a->grid->row, a->grid->rows);
}

static int give_pivots(const lu_problem *problem, int64_t pivots[]) {
  const rgi_matrix *a = &problem->a;
  for (int64_t i = 0; i < a->rows; i++)
    pivots[i] = -1;
  for (int i = 0; i < a->local_rows; i++)
    pivots[row_of(a, i)] = problem->pivots[i] - 1;
  return a->rows ? rg_allreduce(problem->solver->group, MPI_IN_PLACE, pivots, a->rows, MPI_INT64_T,
                                MPI_MAX)
                 : RG_SUCCESS;
}

static void take_pivots(const lu_problem *problem, const int64_t pivots[]) {
  for (int i = 0; i < problem->a.local_rows; i++)
    problem->pivots[i] = (int)pivots[row_of(&problem->a, i)] + 1;
}

static int check_pivots(const char *call, const int64_t pivots[], int64_t n) {
  for (int64_t i = 0; pivots && i < n; i++)
    if (pivots[i] < i || pivots[i] >= n)
      return rgi_error(RG_ERR_ARG, "%s: pivots[%lld] is %lld: these are no pivots of a", call,
                       (long long)i, (long long)pivots[i]);
  return RG_SUCCESS;
}

/* --- the calls ------------------------------------------------------------------------------- */

static int get_all(lu_problem *problem, rg_array a, rg_array b) {
  RGI_TRY(rgi_solver_get(problem->solver, a, &problem->a));
  if (b)
    RGI_TRY(rgi_solver_get(problem->solver, b, &problem->b));
  problem->pivots = malloc(((size_t)problem->a.local_rows + (size_t)problem->a.grid->block) *
                           sizeof *problem->pivots);
  return problem->pivots
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "%s: no memory for pivots", problem->solver->call);
}

/* Gets a and b (or NULL) and factors a, unless these are its pivots. */
static int begin_call(lu_problem *problem, rg_array a, const int64_t pivots[], rg_array b) {
  rgi_solver *solver = problem->solver;
  const rg_array inputs[2] = {a, b};
  RGI_TRY(rgi_solver_begin(solver, b ? 2 : 1, inputs, 2.0 / 3));
  RGI_TRY(rgi_solver_share(solver, get_all(problem, a, b)));
  if (pivots)
    take_pivots(problem, pivots);
  int computes = !pivots && rgi_process_grid_has_me(&solver->grid) && solver->rows;
  RGI_TRY(rgi_solver_share(solver, computes ? factor(problem) : RG_SUCCESS));
  return pivots ? RG_SUCCESS : check_diagonal(problem);
}

static int end_call(lu_problem *problem, int code) {
  rgi_matrix_free(&problem->a);
  rgi_matrix_free(&problem->b);
  free(problem->pivots);
  return rgi_solver_end(problem->solver, code);
}

static int check(const char *call, rg_array a, const rg_linalg_options *options,
                 rgi_solver *solver) {
  RGI_TRY(rgi_solver_check(call, a, options, solver));
  return rgi_solver_check_square(solver);
}

int rg_linalg_lu(rg_array a, const rg_linalg_options *options, int64_t pivots[], rg_array factors) {
  rgi_solver solver;
  lu_problem problem = {.solver = &solver};
  RGI_TRY(check(__func__, a, options, &solver));
  RGI_REQUIRE(pivots);
  RGI_TRY(rgi_solver_check_other(&solver, "factors", factors, solver.rows, solver.rows));
  int code = begin_call(&problem, a, NULL, NULL);
  if (code == RG_SUCCESS)
    code = rgi_solver_put(&solver, code, &problem.a, 0, solver.rows, factors);
  if (code == RG_SUCCESS)
    code = give_pivots(&problem, pivots);
  return end_call(&problem, code);
}

int rg_linalg_solve(rg_array a, const int64_t pivots[], rg_array b,
                    const rg_linalg_options *options, rg_array x) {
  rgi_solver solver;
  lu_problem problem = {.solver = &solver};
  rg_array_spec spec = {.size = sizeof spec};
  RGI_TRY(check(__func__, a, options, &solver));
  if (rg_array_info(b, &spec))
    return rgi_error(RG_ERR_ARRAY, "%s: b is not an array", __func__);
  RGI_TRY(rgi_solver_check_other(&solver, "b", b, solver.rows, spec.shape[1]));
  RGI_TRY(rgi_solver_check_other(&solver, "x", x, solver.rows, spec.shape[1]));
  RGI_TRY(check_pivots(__func__, pivots, solver.rows));
  int code = begin_call(&problem, a, pivots, b);
  if (code == RG_SUCCESS) {
    if (rgi_process_grid_has_me(&solver.grid) && solver.rows && spec.shape[1])
      code = substitute(&problem);
    code = rgi_solver_put(&solver, code, &problem.b, 0, spec.shape[1], x);
  }
  return end_call(&problem, code);
}

int rg_linalg_inverse(rg_array a, const rg_linalg_options *options, rg_array inverse) {
  rgi_solver solver;
  lu_problem problem = {.solver = &solver};
  int info = 0;
  RGI_TRY(check(__func__, a, options, &solver));
  RGI_TRY(rgi_solver_check_other(&solver, "inverse", inverse, solver.rows, solver.rows));
  int code = begin_call(&problem, a, NULL, NULL);
  if (code == RG_SUCCESS && solver.rows)
    code = rgi_solver_compute(&solver, invert, &problem, 0, &info);
  if (code == RG_SUCCESS) {
    if (info)
      code = rgi_error(RG_ERR_INTERNAL, "%s: getri returned %d", __func__, info);
    code = rgi_solver_put(&solver, code, &problem.a, 0, solver.rows, inverse);
  }
  return end_call(&problem, code);
}
