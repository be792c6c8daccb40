/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Symmetric and Hermitian eigenproblems. Vectors by divide and conquer: they are orthogonal to the
 * last bits whatever the spectrum is, unlike those of bisection or of several representations. A
 * generalised problem becomes a plain one with the factor of b (sygst), and its vectors are
 * solutions with that factor (trsm). */
#include <stdlib.h>

#include "base/error.h"
#include "distribution/type.h"
#include "linalg/cholesky.h"
#include "linalg/routine.h"
#include "linalg/solver.h"
#include "math/blas.h"

typedef struct {
  rgi_solver *solver;
  rgi_matrix a, b, z; /* on one process a becomes the vectors, and z is not used */
  int generalised, vectors;
  void *values; /* all, of the real type */
} eigen_problem;

static int is_complex(const eigen_problem *problem) {
  return rgi_type_is_complex(problem->solver->type);
}

/* --- routines ---------------------------------------------------------------------------- */

typedef void lapack_syevd(const char *job, const char *uplo, const int *n, void *a, const int *lda,
                          void *w, void *work, const int *lwork, int *iwork, const int *liwork,
                          int *info, size_t job_length, size_t uplo_length);
typedef void lapack_heevd(const char *job, const char *uplo, const int *n, void *a, const int *lda,
                          void *w, void *work, const int *lwork, void *rwork, const int *lrwork,
                          int *iwork, const int *liwork, int *info, size_t job_length,
                          size_t uplo_length);

static int lapack_eigen(void *state, rgi_solver_memory *memory) {
  eigen_problem *problem = state;
  rgi_matrix *a = &problem->a;
  const char *job = problem->vectors ? "V" : "N";
  rgi_routine *syevd = rgi_routine_find(0, a->type, "syevd");
  int info = 0;
  if (is_complex(problem))
    ((lapack_heevd *)syevd)(job, "L", &a->rows, a->part, &a->ld, problem->values, memory->work,
                            &memory->lwork, memory->rwork, &memory->lrwork, memory->iwork,
                            &memory->liwork, &info, 1, 1);
  else
    ((lapack_syevd *)syevd)(job, "L", &a->rows, a->part, &a->ld, problem->values, memory->work,
                            &memory->lwork, memory->iwork, &memory->liwork, &info, 1, 1);
  return info;
}

/* The routine by divide and conquer computes vectors only. */
typedef void scalapack_syev(const char *job, const char *uplo, const int *n, void *a, const int *ia,
                            const int *ja, const int *desca, void *w, void *z, const int *iz,
                            const int *jz, const int *descz, void *work, const int *lwork,
                            int *info, size_t job_length, size_t uplo_length);
typedef void scalapack_heev(const char *job, const char *uplo, const int *n, void *a, const int *ia,
                            const int *ja, const int *desca, void *w, void *z, const int *iz,
                            const int *jz, const int *descz, void *work, const int *lwork,
                            void *rwork, const int *lrwork, int *info, size_t job_length,
                            size_t uplo_length);
typedef void scalapack_syevd(const char *job, const char *uplo, const int *n, void *a,
                             const int *ia, const int *ja, const int *desca, void *w, void *z,
                             const int *iz, const int *jz, const int *descz, void *work,
                             const int *lwork, int *iwork, const int *liwork, int *info,
                             size_t job_length, size_t uplo_length);
typedef void scalapack_heevd(const char *job, const char *uplo, const int *n, void *a,
                             const int *ia, const int *ja, const int *desca, void *w, void *z,
                             const int *iz, const int *jz, const int *descz, void *work,
                             const int *lwork, void *rwork, const int *lrwork, int *iwork,
                             const int *liwork, int *info, size_t job_length, size_t uplo_length);

static int scalapack_values(void *state, rgi_solver_memory *memory) {
  eigen_problem *problem = state;
  rgi_matrix *a = &problem->a;
  rgi_routine *syev = rgi_routine_find(1, a->type, "syev");
  const int one = 1;
  int info = 0;
  if (is_complex(problem))
    ((scalapack_heev *)syev)("N", "L", &a->rows, a->part, &one, &one, a->descriptor,
                             problem->values, a->part, &one, &one, a->descriptor, memory->work,
                             &memory->lwork, memory->rwork, &memory->lrwork, &info, 1, 1);
  else
    ((scalapack_syev *)syev)("N", "L", &a->rows, a->part, &one, &one, a->descriptor,
                             problem->values, a->part, &one, &one, a->descriptor, memory->work,
                             &memory->lwork, &info, 1, 1);
  return info;
}

static int scalapack_vectors(void *state, rgi_solver_memory *memory) {
  eigen_problem *problem = state;
  rgi_matrix *a = &problem->a, *z = &problem->z;
  rgi_routine *syevd = rgi_routine_find(1, a->type, "syevd");
  const int one = 1;
  int info = 0;
  /* What ormtr, which it calls, asks for; the query of version 2.2 forgets that. */
  memory->more = (int64_t)a->grid->block * (a->local_rows + a->local_columns + a->grid->block) +
                 2 * (int64_t)a->rows;
  if (is_complex(problem))
    ((scalapack_heevd *)syevd)("V", "L", &a->rows, a->part, &one, &one, a->descriptor,
                               problem->values, z->part, &one, &one, z->descriptor, memory->work,
                               &memory->lwork, memory->rwork, &memory->lrwork, memory->iwork,
                               &memory->liwork, &info, 1, 1);
  else
    ((scalapack_syevd *)syevd)("V", "L", &a->rows, a->part, &one, &one, a->descriptor,
                               problem->values, z->part, &one, &one, z->descriptor, memory->work,
                               &memory->lwork, memory->iwork, &memory->liwork, &info, 1, 1);
  return info;
}

/* --- the generalised problem ------------------------------------------------------------ */

typedef void lapack_sygst(const int *type, const char *uplo, const int *n, void *a, const int *lda,
                          const void *b, const int *ldb, int *info, size_t length);
typedef void scalapack_sygst(const int *type, const char *uplo, const int *n, void *a,
                             const int *ia, const int *ja, const int *desca, const void *b,
                             const int *ib, const int *jb, const int *descb, void *scale, int *info,
                             size_t length);
typedef void lapack_trsm(const char *side, const char *uplo, const char *form, const char *diagonal,
                         const int *m, const int *n, const void *alpha, const void *a,
                         const int *lda, void *b, const int *ldb, size_t, size_t, size_t, size_t);
typedef void scalapack_trsm(const char *side, const char *uplo, const char *form,
                            const char *diagonal, const int *m, const int *n, const void *alpha,
                            const void *a, const int *ia, const int *ja, const int *desca, void *b,
                            const int *ib, const int *jb, const int *descb);

/* a becomes l^-1 a l^-H, where b = l l^H. */
static int make_plain(const eigen_problem *problem) {
  const rgi_matrix *a = &problem->a, *b = &problem->b;
  const int one = 1, several = rgi_process_grid_is_several(a->grid);
  rgi_routine *sygst = rgi_routine_find(several, a->type, "sygst");
  double scale; /* 1 in all versions */
  int info = 0;
  RGI_TRY(rgi_cholesky_factor(problem->solver->call, "b", b));
  if (several)
    ((scalapack_sygst *)sygst)(&one, "L", &a->rows, a->part, &one, &one, a->descriptor, b->part,
                               &one, &one, b->descriptor, &scale, &info, 1);
  else
    ((lapack_sygst *)sygst)(&one, "L", &a->rows, a->part, &a->ld, b->part, &b->ld, &info, 1);
  return info ? rgi_error(RG_ERR_INTERNAL, "%s: sygst returned %d", problem->solver->call, info)
              : RG_SUCCESS;
}

static void make_general(const eigen_problem *problem, const rgi_matrix *z) {
  const rgi_matrix *b = &problem->b;
  const int one = 1, several = rgi_process_grid_is_several(b->grid);
  rgi_routine *trsm = rgi_routine_find(several, b->type, "trsm");
  const void *unit = rgi_blas_one(b->type);
  const char *form = is_complex(problem) ? "C" : "T";
  if (several)
    ((scalapack_trsm *)trsm)("L", "L", form, "N", &b->rows, &b->rows, unit, b->part, &one, &one,
                             b->descriptor, z->part, &one, &one, z->descriptor);
  else
    ((lapack_trsm *)trsm)("L", "L", form, "N", &b->rows, &b->rows, unit, b->part, &b->ld, z->part,
                          &z->ld, 1, 1, 1, 1);
}

/* --- the call ------------------------------------------------------------------------------ */

static int get_all(eigen_problem *problem, rg_array a, rg_array b) {
  rgi_solver *solver = problem->solver;
  const int64_t n = solver->rows;
  problem->values = malloc((size_t)n * sizeof(double) + 1);
  if (!problem->values)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld values", solver->call, (long long)n);
  RGI_TRY(rgi_solver_get(solver, a, &problem->a));
  if (b)
    RGI_TRY(rgi_solver_get(solver, b, &problem->b));
  if (problem->vectors && rgi_process_grid_is_several(&solver->grid))
    RGI_TRY(rgi_matrix_make(&solver->grid, solver->type, n, n, &problem->z));
  return RG_SUCCESS;
}

static int solve(eigen_problem *problem) {
  rgi_solver *solver = problem->solver;
  int info, several = rgi_process_grid_is_several(&solver->grid),
            mine = rgi_process_grid_has_me(&solver->grid);
  int code = mine && problem->generalised ? make_plain(problem) : RG_SUCCESS;
  RGI_TRY(rgi_solver_share(solver, code));
  RGI_TRY(rgi_solver_compute(solver,
                             !several           ? lapack_eigen
                             : problem->vectors ? scalapack_vectors
                                                : scalapack_values,
                             problem, 0, &info));
  if (info)
    code = rgi_error(RG_ERR_NUMERIC, "%s: the eigenvalues did not converge (info %d)", solver->call,
                     info);
  else if (mine && problem->generalised && problem->vectors)
    make_general(problem, several ? &problem->z : &problem->a);
  return rgi_solver_share(solver, code);
}

/* Which of all values the options choose. */
static void choose_values(const rg_linalg_options *options, int64_t n, const double values[],
                          int64_t *first, int64_t *last) {
  *first = options->first;
  *last = options->last ? options->last : n;
  if (options->low == 0 && options->high == 0)
    return;
  for (*first = 0; *first < n && !(values[*first] > options->low);)
    ++*first;
  for (*last = *first; *last < n && values[*last] <= options->high;)
    ++*last;
}

static int check_columns(const char *call, rg_array vectors, int64_t count) {
  rg_array_spec spec = {.size = sizeof spec};
  RGI_TRY(rg_array_info(vectors, &spec));
  if (spec.shape[1] < count)
    return rgi_error(RG_ERR_ARG, "%s: vectors has %lld columns for %lld values", call,
                     (long long)spec.shape[1], (long long)count);
  return RG_SUCCESS;
}

/* all: room for all values. */
static int give_results(eigen_problem *problem, double all[], double values[], int64_t *count,
                        rg_array vectors) {
  rgi_solver *solver = problem->solver;
  const rgi_matrix *z = rgi_process_grid_is_several(&solver->grid) ? &problem->z : &problem->a;
  int64_t first, last;
  RGI_TRY(rgi_solver_values(solver, problem->values, solver->rows, all));
  choose_values(&solver->options, solver->rows, all, &first, &last);
  if (vectors) {
    RGI_TRY(check_columns(solver->call, vectors, last - first));
    RGI_TRY(rgi_solver_put(solver, RG_SUCCESS, z, first, last, vectors));
  }
  for (int64_t i = first; i < last; i++)
    values[i - first] = all[i];
  *count = last - first;
  return RG_SUCCESS;
}

static int eigen(rgi_solver *solver, rg_array a, rg_array b, double values[], int64_t *count,
                 rg_array vectors) {
  eigen_problem problem = {.solver = solver, .generalised = b != NULL, .vectors = vectors != NULL};
  const rg_array inputs[2] = {a, b};
  double *all = malloc((size_t)solver->rows * sizeof *all + 1);
  int code = all ? RG_SUCCESS
                 : rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld values", solver->call,
                             (long long)solver->rows);
  code = rgi_solver_share(solver, code);
  if (code == RG_SUCCESS)
    code = rgi_solver_begin(solver, b ? 2 : 1, inputs, vectors ? 5 : 4.0 / 3);
  if (code == RG_SUCCESS)
    code = rgi_solver_check_one(solver);
  if (code == RG_SUCCESS)
    code = rgi_solver_share(solver, get_all(&problem, a, b));
  if (code == RG_SUCCESS && solver->rows > 0)
    code = solve(&problem);
  if (code == RG_SUCCESS)
    code = give_results(&problem, all, values, count, vectors);
  rgi_matrix_free(&problem.a);
  rgi_matrix_free(&problem.b);
  rgi_matrix_free(&problem.z);
  free(problem.values);
  free(all);
  return code;
}

static int check_range(const char *call, const rg_linalg_options *options, int64_t n) {
  int by_index = options->first || options->last,
      by_value = options->low != 0 || options->high != 0;
  if (by_index && by_value)
    return rgi_error(RG_ERR_ARG, "%s: options choose values by first and last and by low and high",
                     call);
  if (by_index && !(0 <= options->first && options->first < options->last && options->last <= n))
    return rgi_error(RG_ERR_ARG, "%s: options choose values %lld to %lld of %lld", call,
                     (long long)options->first, (long long)options->last, (long long)n);
  if (by_value && !(options->low < options->high))
    return rgi_error(RG_ERR_ARG, "%s: options.low is not less than options.high", call);
  return RG_SUCCESS;
}

static int check_vectors(const rgi_solver *solver, rg_array vectors) {
  const rg_linalg_options *options = &solver->options;
  const int64_t n = solver->rows;
  rg_array_spec spec = {.size = sizeof spec};
  if (rg_array_info(vectors, &spec))
    return rgi_error(RG_ERR_ARRAY, "%s: vectors is not an array", solver->call);
  RGI_TRY(rgi_solver_check_other(solver, "vectors", vectors, n, spec.shape[1]));
  if (options->low != 0 || options->high != 0)
    return RG_SUCCESS;
  return check_columns(solver->call, vectors, options->last ? options->last - options->first : n);
}

int rg_linalg_eigen(rg_array a, rg_array b, const rg_linalg_options *options, double values[],
                    int64_t *count, rg_array vectors) {
  rgi_solver solver;
  RGI_TRY(rgi_solver_check(__func__, a, options, &solver));
  RGI_REQUIRE(count);
  RGI_TRY(rgi_solver_check_square(&solver));
  if (!values && solver.rows)
    return rgi_error(RG_ERR_ARG, "%s: values is NULL", __func__);
  RGI_TRY(check_range(__func__, &solver.options, solver.rows));
  if (b)
    RGI_TRY(rgi_solver_check_other(&solver, "b", b, solver.rows, solver.rows));
  if (vectors)
    RGI_TRY(check_vectors(&solver, vectors));
  return rgi_solver_end(&solver, eigen(&solver, a, b, values, count, vectors));
}
