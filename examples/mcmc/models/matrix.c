/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "matrix.h"

#include <math.h>

/* The lower factor L of a = L L'. */
static post_matrix cholesky_factor(const post_matrix *a) {
  post_matrix l = {.rows = a->rows};
  for (int j = 0; j < a->rows; j++)
    for (int i = j; i < a->rows; i++) {
      double s = a->at[i][j];
      for (int k = 0; k < j; k++)
        s -= l.at[i][k] * l.at[j][k];
      l.at[i][j] = i == j ? sqrt(s) : s / l.at[j][j];
    }
  return l;
}

post_matrix post_matrix_inverse(const post_matrix *a) {
  post_matrix l = cholesky_factor(a), inverse = {.rows = a->rows};
  for (int column = 0; column < a->rows; column++) {
    double x[POST_PARAMETERS];
    for (int i = 0; i < a->rows; i++) {
      x[i] = i == column;
      for (int k = 0; k < i; k++)
        x[i] -= l.at[i][k] * x[k];
      x[i] /= l.at[i][i];
    }
    for (int i = a->rows - 1; i >= 0; i--) {
      for (int k = i + 1; k < a->rows; k++)
        x[i] -= l.at[k][i] * x[k];
      x[i] /= l.at[i][i];
      inverse.at[i][column] = x[i];
    }
  }
  return inverse;
}

void post_matrix_apply(const post_matrix *a, const double x[], double y[]) {
  for (int i = 0; i < a->rows; i++) {
    y[i] = 0;
    for (int j = 0; j < a->rows; j++)
      y[i] += a->at[i][j] * x[j];
  }
}
