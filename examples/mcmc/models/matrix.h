/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Dense symmetric positive definite matrices, a few rows large. */
#ifndef POST_MATRIX_H
#define POST_MATRIX_H

#include "model.h"

/* rows <= POST_PARAMETERS */
typedef struct {
  int rows;
  double at[POST_PARAMETERS][POST_PARAMETERS];
} post_matrix;

/* The inverse, by Cholesky's factors. a must be positive definite. */
post_matrix post_matrix_inverse(const post_matrix *a);

/* y = a x */
void post_matrix_apply(const post_matrix *a, const double x[], double y[]);

#endif
