/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cholesky's factor, also as a part of the generalised eigenproblem. */
#include "linalg/cholesky.h"

#include "base/error.h"
#include "linalg/routine.h"
#include "linalg/solver.h"

typedef void lapack_potrf(const char *uplo, const int *n, void *a, const int *lda, int *info,
                          size_t length);
typedef void scalapack_potrf(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
                             const int *desca, int *info, size_t length);

int rgi_cholesky_factor(const char *call, const char *name, const rgi_matrix *a) {
  const int one = 1, several = rgi_process_grid_is_several(a->grid);
  rgi_routine *potrf = rgi_routine_find(several, a->type, "potrf");
  int info = 0;
  if (several)
    ((scalapack_potrf *)potrf)("L", &a->rows, a->part, &one, &one, a->descriptor, &info, 1);
  else
    ((lapack_potrf *)potrf)("L", &a->rows, a->part, &a->ld, &info, 1);
  if (info > 0)
    return rgi_error(RG_ERR_NUMERIC,
                     "%s: %s is not positive definite: its leading minor of order %d is not", call,
                     name, info);
  return info ? rgi_error(RG_ERR_INTERNAL, "%s: potrf returned %d", call, info) : RG_SUCCESS;
}

static int factor_array(rgi_solver *solver, rg_array a, rg_array factor) {
  rgi_matrix matrix = {.part = NULL};
  RGI_TRY(rgi_solver_begin(solver, 1, &a, 1.0 / 3));
  int code = rgi_solver_share(solver, rgi_solver_get(solver, a, &matrix));
  if (code == RG_SUCCESS && rgi_process_grid_has_me(&solver->grid)) {
    code = rgi_cholesky_factor(solver->call, "a", &matrix);
    rgi_matrix_clear_above(&matrix);
  }
  code = rgi_solver_put(solver, code, &matrix, 0, matrix.columns, factor);
  rgi_matrix_free(&matrix);
  return code;
}

int rg_linalg_cholesky(rg_array a, const rg_linalg_options *options, rg_array factor) {
  rgi_solver solver;
  RGI_TRY(rgi_solver_check(__func__, a, options, &solver));
  RGI_TRY(rgi_solver_check_square(&solver));
  RGI_TRY(rgi_solver_check_other(&solver, "factor", factor, solver.rows, solver.rows));
  return rgi_solver_end(&solver, factor_array(&solver, a, factor));
}
