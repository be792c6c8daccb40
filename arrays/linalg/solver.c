/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The course of a call. ScaLAPACK's routines wait for each other: so errors that one process may
 * have, lacks of memory above all, are exchanged before each of them. */
#include "linalg/solver.h"

#include <limits.h>
#include <math.h>
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sized.h"
#include "collectives/calls/group_error.h"
#include "distribution/type.h"
#include "math/blas.h"

enum { MOST_ON_ONE = 32000 }; /* LAPACK counts the elements of its memory in an int */

/* --- checks --------------------------------------------------------------------------- */

static int check_array(const char *call, const char *name, rg_array a, rg_array_spec *spec) {
  spec->size = sizeof *spec;
  if (rg_array_info(a, spec))
    return rgi_error(RG_ERR_ARRAY, "%s: %s is not an array", call, name);
  if (spec->dims != 2)
    return rgi_error(RG_ERR_ARG, "%s: %s has %d dimensions, not 2", call, name, spec->dims);
  return RG_SUCCESS;
}

int rgi_solver_check(const char *call, rg_array a, const rg_linalg_options *options,
                     rgi_solver *solver) {
  static const rg_linalg_options plain = {.size = sizeof plain};
  rg_array_spec spec;
  memset(solver, 0, sizeof *solver);
  RGI_TRY(check_array(call, "a", a, &spec));
  if (spec.type < RG_TYPE_FLOAT || spec.type > RG_TYPE_DOUBLE_COMPLEX)
    return rgi_error(RG_ERR_ARG, "%s: the elements of a are not real or complex numbers", call);
  if (spec.shape[0] > INT_MAX || spec.shape[1] > INT_MAX)
    return rgi_error(RG_ERR_LIMIT, "%s: a is %lld x %lld; LAPACK counts to 2^31 - 1", call,
                     (long long)spec.shape[0], (long long)spec.shape[1]);
  RGI_TRY(rgi_sized_take(&solver->options, sizeof solver->options, options ? options : &plain,
                         "options"));
  solver->grid.row = solver->grid.system = solver->grid.context = -1;
  solver->call = call;
  solver->type = spec.type;
  solver->rows = spec.shape[0];
  solver->columns = spec.shape[1];
  return rg_array_group(a, &solver->group);
}

int rgi_solver_check_square(const rgi_solver *solver) {
  if (solver->rows != solver->columns)
    return rgi_error(RG_ERR_ARG, "%s: a is %lld x %lld, not square", solver->call,
                     (long long)solver->rows, (long long)solver->columns);
  return RG_SUCCESS;
}

int rgi_solver_check_other(const rgi_solver *solver, const char *name, rg_array other, int64_t rows,
                           int64_t columns) {
  rg_array_spec spec;
  rg_group group;
  int how;
  RGI_TRY(check_array(solver->call, name, other, &spec));
  if (spec.type != solver->type)
    return rgi_error(RG_ERR_ARG, "%s: a and %s are of different types", solver->call, name);
  if (spec.shape[0] != rows || spec.shape[1] != columns)
    return rgi_error(RG_ERR_ARG, "%s: %s is %lld x %lld; it has to be %lld x %lld", solver->call,
                     name, (long long)spec.shape[0], (long long)spec.shape[1], (long long)rows,
                     (long long)columns);
  RGI_TRY(rg_array_group(other, &group));
  RGI_TRY(rg_group_compare(solver->group, group, &how));
  if (how == RG_UNEQUAL)
    return rgi_error(RG_ERR_GROUP, "%s: a and %s are on different processes", solver->call, name);
  return RG_SUCCESS;
}

/* --- the course of a call ---------------------------------------------------------------- */

int rgi_solver_share(const rgi_solver *solver, int code) {
  return rgi_group_error_share(solver->group, solver->call, code);
}

/* LAPACK may never end with such a matrix. */
static int check_finite(const rgi_solver *solver, rg_array a) {
  double greatest;
  RGI_TRY(rg_array_norm(a, RG_NORM_INFINITY, &greatest));
  if (!isfinite(greatest))
    return rgi_error(RG_ERR_NUMERIC, "%s: a matrix has an element that is %s", solver->call,
                     isnan(greatest) ? "not a number" : "infinite");
  return RG_SUCCESS;
}

int rgi_solver_begin(rgi_solver *solver, int n, const rg_array inputs[], double work) {
  int64_t extent = solver->rows > solver->columns ? solver->rows : solver->columns;
  solver->started = rgi_clock_now();
  RGI_TRY(rg_array_fence(NULL));
  for (int i = 0; i < n; i++) {
    RGI_TRY(rg_array_sync(inputs[i]));
    RGI_TRY(check_finite(solver, inputs[i]));
  }
  solver->threads = rgi_blas_begin();
  RGI_TRY(rgi_process_grid_make(solver->call, solver->group, solver->type, extent, work,
                                &solver->options, &solver->grid));
  if (!rgi_process_grid_is_several(&solver->grid)) /* the others wait */
    rgi_blas_end(solver->threads);
  return RG_SUCCESS;
}

int rgi_solver_check_one(const rgi_solver *solver) {
  const int64_t n = solver->rows > solver->columns ? solver->rows : solver->columns;
  if (!rgi_process_grid_is_several(&solver->grid) && n > MOST_ON_ONE)
    return rgi_error(
        RG_ERR_LIMIT,
        "%s: one process can have %d rows or columns, not %lld; several need ScaLAPACK",
        solver->call, MOST_ON_ONE, (long long)n);
  return RG_SUCCESS;
}

int rgi_solver_get(rgi_solver *solver, rg_array a, rgi_matrix *matrix) {
  double start = rgi_clock_now();
  rg_array_spec spec = {.size = sizeof spec};
  RGI_TRY(rg_array_info(a, &spec));
  RGI_TRY(rgi_matrix_make(&solver->grid, solver->type, spec.shape[0], spec.shape[1], matrix));
  int code = rgi_matrix_get(matrix, a);
  solver->moved += rgi_clock_now() - start;
  return code;
}

int rgi_solver_put(rgi_solver *solver, int code, const rgi_matrix *matrix, int64_t first,
                   int64_t last, rg_array a) {
  RGI_TRY(rgi_solver_share(solver, code));
  double start = rgi_clock_now();
  code = rgi_matrix_put(matrix, first, last, a);
  RGI_TRY(rgi_solver_share(solver, code));
  RGI_TRY(rg_array_sync(a));
  solver->moved += rgi_clock_now() - start;
  return RG_SUCCESS;
}

int rgi_solver_end(rgi_solver *solver, int code) {
  rgi_process_grid_free(&solver->grid);
  if (solver->threads)
    rgi_blas_end(solver->threads);
  rgi_log(RGI_LOG_DEBUG,
          "%s: %lld x %lld on %d x %d processes: %.6f s, of which redistribution %.6f s",
          solver->call, (long long)solver->rows, (long long)solver->columns, solver->grid.rows,
          solver->grid.columns, rgi_clock_now() - solver->started, solver->moved);
  return code;
}

static int is_narrow(rg_array_type type) {
  return type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX;
}

int rgi_solver_values(const rgi_solver *solver, const void *real, int64_t n, double values[]) {
  int rank;
  RGI_TRY(rg_group_rank(solver->group, &rank));
  for (int64_t i = 0; rank == 0 && i < n; i++)
    values[i] =
        is_narrow(solver->type) ? (double)((const float *)real)[i] : ((const double *)real)[i];
  return n > 0 ? rg_bcast(solver->group, values, n, MPI_DOUBLE, 0) : RG_SUCCESS;
}

/* --- memory of routines -------------------------------------------------------------------- */

/* What a query has answered; a float has been rounded. */
static int64_t answer_of(const rgi_solver *solver, const void *number) {
  double n =
      is_narrow(solver->type) ? 1.000001 * (double)*(const float *)number : *(const double *)number;
  return n > 1 ? (int64_t)ceil(n) : 1;
}

static void free_memory(rgi_solver_memory *memory) {
  free(memory->work);
  free(memory->rwork);
  free(memory->iwork);
}

static int allocate_memory(const rgi_solver *solver, const void *work, const void *rwork, int iwork,
                           int64_t least, rgi_solver_memory *memory) {
  int64_t n = answer_of(solver, work) + memory->more, real = answer_of(solver, rwork);
  if (real < least)
    real = least;
  if (n > INT_MAX || real > INT_MAX || iwork < 0)
    return rgi_error(RG_ERR_LIMIT,
                     "%s: a routine needs %lld elements of memory; more processes "
                     "need less each",
                     solver->call, (long long)(n > real ? n : real));
  memory->lwork = (int)n;
  memory->lrwork = (int)real;
  memory->liwork = iwork > 1 ? iwork : 1;
  memory->work = malloc((size_t)n * rgi_type_size(solver->type, 0));
  memory->rwork = malloc((size_t)real * sizeof(double));
  memory->iwork = malloc((size_t)memory->liwork * sizeof(int));
  if (!memory->work || !memory->rwork || !memory->iwork)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld elements", solver->call, (long long)n);
  return RG_SUCCESS;
}

int rgi_solver_compute(const rgi_solver *solver, rgi_solver_routine *routine, void *state,
                       int64_t least, int *info) {
  const int mine = rgi_process_grid_has_me(&solver->grid);
  double work[2] = {0}, rwork[2] = {0};
  int iwork[2] = {0}, code = RG_SUCCESS;
  rgi_solver_memory memory = {work, rwork, iwork, -1, -1, -1, 0};
  *info = mine ? routine(state, &memory) : 0;
  if (mine && *info)
    code = rgi_error(RG_ERR_INTERNAL, "%s: a query returned %d", solver->call, *info);
  memory = (rgi_solver_memory){NULL, NULL, NULL, 0, 0, 0, memory.more};
  if (mine && code == RG_SUCCESS)
    code = allocate_memory(solver, work, rwork, iwork[0], least, &memory);
  code = rgi_solver_share(solver, code);
  if (code == RG_SUCCESS && mine)
    *info = routine(state, &memory);
  free_memory(&memory);
  return code;
}
