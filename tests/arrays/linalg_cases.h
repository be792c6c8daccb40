/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Linear algebra on arrays of any distribution, against closed forms, by residuals, and with wrong
 * calls. With ScaLAPACK (RG_SCALAPACK) on grids of any size; else on one process. */
#ifndef LINALG_CASES_H
#define LINALG_CASES_H

void linalg_start(void);
void linalg_stop(void);
void test_laplacian(void);
void test_frank(void);
void test_hilbert(void);
void test_clustered(void);
void test_generalised(void);
void test_ranges(void);
void test_singular_values(void);
void test_solve(void);
void test_any_grid(void);
void test_not_definite(void);
void test_singular(void);
void test_wrong_calls(void);
void test_cost_model(void);

#define LINALG_CASES                                                                               \
  {"start", linalg_start}, {"laplacian", test_laplacian}, {"frank", test_frank},                   \
      {"hilbert", test_hilbert}, {"clustered", test_clustered}, {"generalised", test_generalised}, \
      {"ranges", test_ranges}, {"singular values", test_singular_values}, {"solve", test_solve},   \
      {"any grid", test_any_grid}, {"not definite", test_not_definite},                            \
      {"singular", test_singular}, {"wrong calls", test_wrong_calls},                              \
      {"cost model", test_cost_model}, {                                                           \
    "stop", linalg_stop                                                                            \
  }

#endif
