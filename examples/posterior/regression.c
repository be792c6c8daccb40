/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Linear regression, y = x'b + noise, with 640 data in 16 blocks of rows. A priori
 * s^2, the noise's variance, is inverse gamma (2, 2) and b is N(0, s^2 3^2),
 * independent. Positions are b and log s^2. The posterior is known in closed
 * form: s^2 is inverse gamma, b is Student's t. */
#include <math.h>
#include <regroup/random.h>

#include "model.h"

enum { ROWS = 640, COEFFICIENTS = 5, BLOCKS = 16, DATA_SEED = 2 };
static const double shape = 2, rate = 2, width = 3;
static const double source[COEFFICIENTS] = {1, 2, -1, 0.5, 0};
static const double noise = 1.5;

static double x[ROWS][COEFFICIENTS], y[ROWS];

/* Columns with a part in common, so that the coefficients are correlated. */
static void draw_row(int row) {
  double z[COEFFICIENTS + 1];
  rg_random r = {.seed = DATA_SEED, .walker = UINT64_MAX, .step = (uint64_t)row};
  rg_random_normal(&r, COEFFICIENTS + 1, z);
  x[row][0] = 1;
  for (int k = 1; k < COEFFICIENTS; k++)
    x[row][k] = 0.8 * z[k] + 0.6 * z[0];
  y[row] = noise * z[COEFFICIENTS];
  for (int k = 0; k < COEFFICIENTS; k++)
    y[row] += source[k] * x[row][k];
}

/* The block's sums of r^2 and of r x, with r the residuals. */
static void block_of(int block, const double position[], double out[]) {
  int rows = ROWS / BLOCKS;
  for (int k = 0; k <= COEFFICIENTS; k++)
    out[k] = 0;
  for (int i = block * rows; i < (block + 1) * rows; i++) {
    double r = y[i];
    for (int k = 0; k < COEFFICIENTS; k++)
      r -= position[k] * x[i][k];
    out[0] += r * r;
    for (int k = 0; k < COEFFICIENTS; k++)
      out[1 + k] += r * x[i][k];
  }
}

static void combine_blocks(const double *blocks, int stride, const double position[],
                           post_density *value) {
  double sum[1 + COEFFICIENTS] = {0}, variance = exp(position[COEFFICIENTS]);
  double count = ROWS + COEFFICIENTS + 2 * shape, misfit;
  for (int b = 0; b < BLOCKS; b++)
    for (int k = 0; k <= COEFFICIENTS; k++)
      sum[k] += blocks[b * stride + k];
  misfit = sum[0] + 2 * rate;
  for (int k = 0; k < COEFFICIENTS; k++) {
    misfit += position[k] * position[k] / (width * width);
    value->gradient[k] = (sum[1 + k] - position[k] / (width * width)) / variance;
  }
  value->log_density = -(count * position[COEFFICIENTS] + misfit / variance) / 2;
  value->gradient[COEFFICIENTS] = (misfit / variance - count) / 2;
}

static void list_quantities(const double position[], double q[]) {
  for (int k = 0; k < COEFFICIENTS; k++)
    q[k] = position[k];
  q[COEFFICIENTS] = exp(position[COEFFICIENTS]);
}

/* In place, by Gauss and Jordan; the matrix is positive definite, so that no pivot is 0. */
static void invert_matrix(double a[COEFFICIENTS][COEFFICIENTS]) {
  for (int k = 0; k < COEFFICIENTS; k++) {
    double pivot = a[k][k];
    a[k][k] = 1;
    for (int j = 0; j < COEFFICIENTS; j++)
      a[k][j] /= pivot;
    for (int i = 0; i < COEFFICIENTS; i++) {
      double factor = a[i][k];
      if (i != k)
        a[i][k] = 0;
      for (int j = 0; j < COEFFICIENTS && i != k; j++)
        a[i][j] -= factor * a[k][j];
    }
  }
}

/* With P = X'X + I / width^2 and b' = P^-1 X'y: s^2 is inverse gamma (a, c) with
 * a = shape + rows / 2 and c = rate + (y'y - b'P b') / 2; b has the mean b' and
 * the covariance P^-1 c / (a - 1). */
static void true_moments(post_model_moments moments[]) {
  double p[COEFFICIENTS][COEFFICIENTS] = {{0}}, right[COEFFICIENTS] = {0}, mean[COEFFICIENTS];
  double squares = 0;
  for (int k = 0; k < COEFFICIENTS; k++)
    p[k][k] = 1 / (width * width);
  for (int i = 0; i < ROWS; i++) {
    squares += y[i] * y[i];
    for (int k = 0; k < COEFFICIENTS; k++) {
      right[k] += x[i][k] * y[i];
      for (int l = 0; l < COEFFICIENTS; l++)
        p[k][l] += x[i][k] * x[i][l];
    }
  }
  invert_matrix(p);
  for (int k = 0; k < COEFFICIENTS; k++) {
    mean[k] = 0;
    for (int l = 0; l < COEFFICIENTS; l++)
      mean[k] += p[k][l] * right[l];
    squares -= mean[k] * right[k];
  }
  double a = shape + ROWS / 2.0, c = rate + squares / 2, variance = c / (a - 1);
  for (int k = 0; k < COEFFICIENTS; k++)
    moments[k] = (post_model_moments){mean[k], sqrt(variance * p[k][k])};
  moments[COEFFICIENTS] = (post_model_moments){variance, variance / sqrt(a - 2)};
}

static void draw_data(void) {
  for (int i = 0; i < ROWS; i++)
    draw_row(i);
}

const post_model post_model_regression = {.name = "regression",
                                          .samples = 1000,
                                          .parameters = COEFFICIENTS + 1,
                                          .labels = {"b0", "b1", "b2", "b3", "b4", "s2"},
                                          .blocks = BLOCKS,
                                          .columns = COEFFICIENTS + 1,
                                          .prepare = draw_data,
                                          .block = block_of,
                                          .combine = combine_blocks,
                                          .quantities = list_quantities,
                                          .truth = true_moments};
