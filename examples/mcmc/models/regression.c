/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Linear regression, y = x'b + noise, with 640 data in 16 blocks of rows. A priori
 * s^2, the noise's variance, is inverse gamma (2, 2) and b is N(0, s^2 3^2),
 * independent. Positions are b and log s^2. The posterior is known in closed
 * form: s^2 is inverse gamma, b is Student's t. */
#include <math.h>
#include <regroup/random.h>
#include <stdlib.h>

#include "matrix.h"

enum { ROWS = 640, COEFFICIENTS = 5, BLOCKS = 16, DATA_SEED = 2 };
static const double shape = 2, rate = 2, width = 3;
static const double source[COEFFICIENTS] = {1, 2, -1, 0.5, 0};
static const double noise = 1.5;

const char *const post_model_regression_labels[] = {"b0", "b1", "b2", "b3", "b4", "s2"};

typedef struct {
  double x[ROWS][COEFFICIENTS], y[ROWS];
} regression_data;

/* Columns with a part in common, so that the coefficients are correlated. */
static void draw_row(regression_data *d, int row) {
  double z[COEFFICIENTS + 1];
  rg_random r = {.seed = DATA_SEED, .walker = UINT64_MAX, .step = (uint64_t)row};
  rg_random_normal(&r, COEFFICIENTS + 1, z);
  d->x[row][0] = 1;
  for (int k = 1; k < COEFFICIENTS; k++)
    d->x[row][k] = 0.8 * z[k] + 0.6 * z[0];
  d->y[row] = noise * z[COEFFICIENTS];
  for (int k = 0; k < COEFFICIENTS; k++)
    d->y[row] += source[k] * d->x[row][k];
}

/* The block's sums of r^2 and of r x, with r the residuals. */
static void block_of(const post_model *m, int stage, int block, const double position[],
                     const double carried[POST_CARRIED], double out[]) {
  (void)stage, (void)carried;
  const regression_data *d = m->data;
  int rows = ROWS / BLOCKS;
  for (int k = 0; k <= COEFFICIENTS; k++)
    out[k] = 0;
  for (int i = block * rows; i < (block + 1) * rows; i++) {
    double r = d->y[i];
    for (int k = 0; k < COEFFICIENTS; k++)
      r -= position[k] * d->x[i][k];
    out[0] += r * r;
    for (int k = 0; k < COEFFICIENTS; k++)
      out[1 + k] += r * d->x[i][k];
  }
}

static void combine_blocks(const post_model *m, int stage, const double *blocks, int stride,
                           const double position[], double carried[POST_CARRIED],
                           double *log_density, double gradient[]) {
  (void)m, (void)stage, (void)carried;
  double sum[1 + COEFFICIENTS] = {0}, variance = exp(position[COEFFICIENTS]);
  double count = ROWS + COEFFICIENTS + 2 * shape, misfit;
  for (int b = 0; b < BLOCKS; b++)
    for (int k = 0; k <= COEFFICIENTS; k++)
      sum[k] += blocks[b * stride + k];
  misfit = sum[0] + 2 * rate;
  for (int k = 0; k < COEFFICIENTS; k++) {
    misfit += position[k] * position[k] / (width * width);
    gradient[k] = (sum[1 + k] - position[k] / (width * width)) / variance;
  }
  *log_density = -(count * position[COEFFICIENTS] + misfit / variance) / 2;
  gradient[COEFFICIENTS] = (misfit / variance - count) / 2;
}

static void list_quantities(const post_model *m, const double position[], double q[]) {
  (void)m;
  for (int k = 0; k < COEFFICIENTS; k++)
    q[k] = position[k];
  q[COEFFICIENTS] = exp(position[COEFFICIENTS]);
}

/* With P = X'X + I / width^2 and b' = P^-1 X'y: s^2 is inverse gamma (a, c) with
 * a = shape + rows / 2 and c = rate + (y'y - b'P b') / 2; b has the mean b' and
 * the covariance P^-1 c / (a - 1). */
static void true_moments(const post_model *m, post_model_moments t[]) {
  const regression_data *d = m->data;
  post_matrix p = {.rows = COEFFICIENTS};
  double right[COEFFICIENTS] = {0}, mean[COEFFICIENTS], squares = 0;
  for (int k = 0; k < COEFFICIENTS; k++)
    p.at[k][k] = 1 / (width * width);
  for (int i = 0; i < ROWS; i++) {
    squares += d->y[i] * d->y[i];
    for (int k = 0; k < COEFFICIENTS; k++) {
      right[k] += d->x[i][k] * d->y[i];
      for (int l = 0; l < COEFFICIENTS; l++)
        p.at[k][l] += d->x[i][k] * d->x[i][l];
    }
  }
  post_matrix inverse = post_matrix_inverse(&p);
  post_matrix_apply(&inverse, right, mean);
  for (int k = 0; k < COEFFICIENTS; k++)
    squares -= mean[k] * right[k];
  double a = shape + ROWS / 2.0, c = rate + squares / 2, variance = c / (a - 1);
  for (int k = 0; k < COEFFICIENTS; k++)
    t[k] = (post_model_moments){mean[k], sqrt(variance * inverse.at[k][k])};
  t[COEFFICIENTS] = (post_model_moments){variance, variance / sqrt(a - 2)};
}

post_model *post_model_regression_make(int scale) {
  (void)scale;
  post_model *m = malloc(sizeof *m);
  regression_data *d = malloc(sizeof *d);
  if (!m || !d) {
    free(m);
    free(d);
    return NULL;
  }
  for (int i = 0; i < ROWS; i++)
    draw_row(d, i);
  *m = (post_model){.parameters = COEFFICIENTS + 1,
                    .quantities = COEFFICIENTS + 1,
                    .blocks = BLOCKS,
                    .stages = 1,
                    .columns = {COEFFICIENTS + 1},
                    .block = block_of,
                    .combine = combine_blocks,
                    .quantity = list_quantities,
                    .truth = true_moments,
                    .data = d};
  return m;
}
