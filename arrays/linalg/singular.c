/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Singular values: LAPACK's divide and conquer, ScaLAPACK's QR iterations. */
#include <stdlib.h>

#include "base/error.h"
#include "distribution/type.h"
#include "linalg/routine.h"
#include "linalg/solver.h"

typedef struct {
  rgi_solver *solver;
  rgi_matrix a, u, vh;
  int vectors;
  void *values; /* of the real type */
} singular_problem;

typedef void lapack_gesdd(const char *job, const int *m, const int *n, void *a, const int *lda,
                          void *s, void *u, const int *ldu, void *vt, const int *ldvt, void *work,
                          const int *lwork, int *iwork, int *info, size_t length);
typedef void lapack_complex_gesdd(const char *job, const int *m, const int *n, void *a,
                                  const int *lda, void *s, void *u, const int *ldu, void *vt,
                                  const int *ldvt, void *work, const int *lwork, void *rwork,
                                  int *iwork, int *info, size_t length);

static int64_t lesser(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* gesdd does not tell what it needs of integers and of real numbers. */
static void tell(const rgi_matrix *a, int vectors, rgi_solver_memory *memory) {
  int64_t k = lesser(a->rows, a->columns), more = a->rows > a->columns ? a->rows : a->columns,
          real = vectors ? k * (5 * k + 7 > 2 * more + 2 * k + 1 ? 5 * k + 7 : 2 * more + 2 * k + 1)
                         : 7 * k;
  if (memory->lwork >= 0)
    return;
  *memory->iwork = 8 * (int)k;
  if (a->type == RG_TYPE_FLOAT_COMPLEX)
    *(float *)memory->rwork = (float)real;
  else
    *(double *)memory->rwork = (double)real;
}

static int lapack_singular(void *state, rgi_solver_memory *memory) {
  singular_problem *problem = state;
  const rgi_matrix *a = &problem->a, *u = &problem->u, *vh = &problem->vh;
  const char *job = problem->vectors ? "S" : "N";
  const int one = 1, ldu = u->part ? u->ld : one, ldvt = vh->part ? vh->ld : one;
  rgi_routine *gesdd = rgi_routine_find(0, a->type, "gesdd");
  int info = 0;
  tell(a, problem->vectors, memory);
  if (rgi_type_is_complex(a->type))
    ((lapack_complex_gesdd *)gesdd)(job, &a->rows, &a->columns, a->part, &a->ld, problem->values,
                                    u->part, &ldu, vh->part, &ldvt, memory->work, &memory->lwork,
                                    memory->rwork, memory->iwork, &info, 1);
  else
    ((lapack_gesdd *)gesdd)(job, &a->rows, &a->columns, a->part, &a->ld, problem->values, u->part,
                            &ldu, vh->part, &ldvt, memory->work, &memory->lwork, memory->iwork,
                            &info, 1);
  return info;
}

typedef void scalapack_gesvd(const char *jobu, const char *jobvt, const int *m, const int *n,
                             void *a, const int *ia, const int *ja, const int *desca, void *s,
                             void *u, const int *iu, const int *ju, const int *descu, void *vt,
                             const int *ivt, const int *jvt, const int *descvt, void *work,
                             const int *lwork, int *info, size_t u_length, size_t vt_length);
typedef void scalapack_complex_gesvd(const char *jobu, const char *jobvt, const int *m,
                                     const int *n, void *a, const int *ia, const int *ja,
                                     const int *desca, void *s, void *u, const int *iu,
                                     const int *ju, const int *descu, void *vt, const int *ivt,
                                     const int *jvt, const int *descvt, void *work,
                                     const int *lwork, void *rwork, int *info, size_t u_length,
                                     size_t vt_length);

static int scalapack_singular(void *state, rgi_solver_memory *memory) {
  singular_problem *problem = state;
  const rgi_matrix *a = &problem->a, *u = &problem->u, *vh = &problem->vh;
  const char *job = problem->vectors ? "V" : "N";
  const int one = 1;
  rgi_routine *gesvd = rgi_routine_find(1, a->type, "gesvd");
  int info = 0;
  if (rgi_type_is_complex(a->type))
    ((scalapack_complex_gesvd *)gesvd)(job, job, &a->rows, &a->columns, a->part, &one, &one,
                                       a->descriptor, problem->values, u->part, &one, &one,
                                       u->descriptor, vh->part, &one, &one, vh->descriptor,
                                       memory->work, &memory->lwork, memory->rwork, &info, 1, 1);
  else
    ((scalapack_gesvd *)gesvd)(job, job, &a->rows, &a->columns, a->part, &one, &one, a->descriptor,
                               problem->values, u->part, &one, &one, u->descriptor, vh->part, &one,
                               &one, vh->descriptor, memory->work, &memory->lwork, &info, 1, 1);
  return info;
}

static int get_all(singular_problem *problem, rg_array a) {
  rgi_solver *solver = problem->solver;
  const int64_t m = solver->rows, n = solver->columns, k = lesser(m, n);
  problem->values = malloc((size_t)k * sizeof(double) + 1);
  if (!problem->values)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld values", solver->call, (long long)k);
  RGI_TRY(rgi_solver_get(solver, a, &problem->a));
  /* Without vectors ScaLAPACK looks at the descriptors nevertheless. */
  RGI_TRY(rgi_matrix_make(&solver->grid, solver->type, m, k, &problem->u));
  return rgi_matrix_make(&solver->grid, solver->type, k, n, &problem->vh);
}

static int decompose(singular_problem *problem, double values[], rg_array u, rg_array vh) {
  rgi_solver *solver = problem->solver;
  const int64_t m = solver->rows, n = solver->columns, k = lesser(m, n);
  int info = 0, several = rgi_process_grid_is_several(&solver->grid);
  if (k > 0)
    RGI_TRY(rgi_solver_compute(solver, several ? scalapack_singular : lapack_singular, problem,
                               several ? 4 * (m > n ? m : n) + 1 : 0, &info));
  int code = info ? rgi_error(RG_ERR_NUMERIC, "%s: the singular values did not converge (info %d)",
                              solver->call, info)
                  : RG_SUCCESS;
  RGI_TRY(rgi_solver_share(solver, code));
  if (u) {
    RGI_TRY(rgi_solver_put(solver, RG_SUCCESS, &problem->u, 0, k, u));
    RGI_TRY(rgi_solver_put(solver, RG_SUCCESS, &problem->vh, 0, n, vh));
  }
  return rgi_solver_values(solver, problem->values, k, values);
}

static int singular(rgi_solver *solver, rg_array a, double values[], rg_array u, rg_array vh) {
  singular_problem problem = {.solver = solver, .vectors = u != NULL};
  int code = rgi_solver_begin(solver, 1, &a, u ? 20 : 3);
  if (code == RG_SUCCESS)
    code = rgi_solver_check_one(solver);
  if (code == RG_SUCCESS)
    code = rgi_solver_share(solver, get_all(&problem, a));
  if (code == RG_SUCCESS)
    code = decompose(&problem, values, u, vh);
  rgi_matrix_free(&problem.a);
  rgi_matrix_free(&problem.u);
  rgi_matrix_free(&problem.vh);
  free(problem.values);
  return code;
}

int rg_linalg_singular(rg_array a, const rg_linalg_options *options, double values[], rg_array u,
                       rg_array vh) {
  rgi_solver solver;
  RGI_TRY(rgi_solver_check(__func__, a, options, &solver));
  const int64_t k = lesser(solver.rows, solver.columns);
  if (!values && k)
    return rgi_error(RG_ERR_ARG, "%s: values is NULL", __func__);
  if (!u != !vh || (u && u == vh))
    return rgi_error(RG_ERR_ARG, "%s: u and vh are two arrays, or both NULL", __func__);
  if (u) {
    RGI_TRY(rgi_solver_check_other(&solver, "u", u, solver.rows, k));
    RGI_TRY(rgi_solver_check_other(&solver, "vh", vh, k, solver.columns));
  }
  return rgi_solver_end(&solver, singular(&solver, a, values, u, vh));
}
