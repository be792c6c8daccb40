/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The posteriors of regroup-posterior: densities, gradients and true moments, each
 * against another way to get it; and the same bits on any group.
 * ranks: 1 2 3 4 7 16
 * sources: examples/posterior/model.c examples/posterior/schools.c
 * sources: examples/posterior/regression.c */
#include <math.h>
#include <regroup/random.h>
#include <string.h>

#include "check.h"
#include "examples/posterior/model.h"
#include "groups.h"

#define PI 3.14159265358979323846

typedef double positions[POST_CHAINS][POST_PARAMETERS];
typedef post_density values[POST_CHAINS];

static void draw(positions x, uint64_t step, double scale) {
  for (int c = 0; c < POST_CHAINS; c++) {
    rg_random r = {.seed = rgt_seed(), .walker = (uint64_t)c, .step = step};
    RGT_OK(rg_random_normal(&r, POST_PARAMETERS, x[c]));
    for (int i = 0; i < POST_PARAMETERS; i++)
      x[c][i] *= scale;
  }
}

/* One value, the others being copies. */
static post_density value_at(const post_model *model, const double x[POST_PARAMETERS]) {
  positions all;
  values v;
  for (int c = 0; c < POST_CHAINS; c++)
    memcpy(all[c], x, sizeof all[c]);
  RGT_OK(post_density_evaluate(self, model, all, v));
  RGT_TRUE(memcmp(&v[0].log_density, &v[POST_CHAINS - 1].log_density, sizeof(double)) == 0);
  return v[0];
}

/* --- on any group -------------------------------------------------------------------- */

static const char *const names[] = {"eight-schools", "regression"};

static void test_same_bits(void) {
  for (int k = 0; k < 2; k++) {
    const post_model *m = post_model_find(names[k]);
    for (int turn = 0; turn < 5; turn++) {
      positions x;
      values alone = {{0, {0}}}, together = {{0, {0}}};
      draw(x, (uint64_t)turn, 1);
      RGT_OK(post_density_evaluate(self, m, x, alone));
      RGT_OK(post_density_evaluate(world, m, x, together));
      RGT_TRUE(memcmp(alone, together, sizeof alone) == 0);
      for (int c = 0; c < POST_CHAINS; c++)
        RGT_TRUE(isfinite(alone[c].log_density));
    }
  }
}

static void test_gradient(void) {
  const double h = 1e-5;
  for (int k = 0; k < 2; k++) {
    const post_model *m = post_model_find(names[k]);
    positions x;
    draw(x, 10, 0.7);
    post_density v = value_at(m, x[0]);
    for (int i = 0; i < m->parameters; i++) {
      double at = x[0][i];
      x[0][i] = at + h;
      double up = value_at(m, x[0]).log_density;
      x[0][i] = at - h;
      double down = value_at(m, x[0]).log_density;
      x[0][i] = at;
      RGT_DBL(v.gradient[i], (up - down) / (2 * h), 1e-5 * (1 + fabs(v.gradient[i])));
    }
  }
}

static void test_catalogue(void) {
  RGT_TRUE(post_model_find("regression") == &post_model_regression);
  RGT_PTR_NULL(post_model_find("nothing"));
  for (int k = 0; k < 2; k++) {
    const post_model *m = post_model_find(names[k]);
    RGT_TRUE(m->parameters <= POST_PARAMETERS && m->blocks <= POST_BLOCKS);
    RGT_TRUE(m->columns <= POST_COLUMNS);
    for (int q = 0; q < m->parameters; q++)
      RGT_PTR_NOT_NULL(m->labels[q]);
  }
}

/* --- eight schools --------------------------------------------------------------------- */

/* Values known from elsewhere. */
static void test_schools_known(void) {
  static const double mean[] = {4.396821, 3.597705, 6.21188, 4.94018, 3.92700,
                                4.75710,  3.61548,  4.04261, 6.29672, 4.85425};
  const post_model *m = &post_model_schools;
  post_model_moments t[POST_PARAMETERS];
  m->truth(t);
  RGT_DBL(t[0].sd, 3.317704, 6e-7);
  for (int q = 0; q < 10; q++)
    RGT_DBL(t[q].mean, mean[q], q < 2 ? 6e-7 : 6e-6);
}

static const double y[] = {28, 8, -3, 7, -1, 1, 18, 12};
static const double sigma[] = {15, 10, 16, 11, 9, 11, 10, 18};

/* The density of mu and tau, theta being integrated out. */
static double mu_tau(double mu, double tau) {
  double log_density = -mu * mu / 50 - log(1 + tau * tau / 25);
  for (int j = 0; j < 8; j++) {
    double v = sigma[j] * sigma[j] + tau * tau;
    log_density -= log(v) / 2 + (y[j] - mu) * (y[j] - mu) / (2 * v);
  }
  return exp(log_density + 30);
}

/* Moments by the midpoint rule over mu and tau = 5 tan(a). */
static void test_schools_grid(void) {
  enum { ANGLES = 1000, STEPS = 150 };
  double sum[5] = {0};
  const post_model *m = &post_model_schools;
  post_model_moments t[POST_PARAMETERS];
  m->truth(t);
  for (int i = 0; i < ANGLES; i++) {
    double angle = (i + 0.5) / ANGLES * PI / 2, tau = 5 * tan(angle);
    for (int j = 0; j < STEPS; j++) {
      double mu = -35 + (j + 0.5) * 75.0 / STEPS;
      double weight = mu_tau(mu, tau) / (cos(angle) * cos(angle));
      double part[] = {1, mu, mu * mu, tau, tau * tau};
      for (int n = 0; n < 5; n++)
        sum[n] += weight * part[n];
    }
  }
  for (int q = 0; q < 2; q++) {
    double mean = sum[1 + 2 * q] / sum[0];
    RGT_DBL(t[q].mean, mean, 1e-4);
    RGT_DBL(t[q].sd, sqrt(sum[2 + 2 * q] / sum[0] - mean * mean), 1e-4);
  }
}

/* The joint density written in mu, log tau and theta; the step from theta to eta
 * is tau^8. */
static double plain_density(const post_model *model, const double x[]) {
  double q[POST_PARAMETERS], log_density;
  model->quantities(x, q);
  log_density = -q[0] * q[0] / 50 - log(1 + q[1] * q[1] / 25) + log(q[1]);
  for (int j = 0; j < 8; j++) {
    double theta = q[2 + j];
    log_density -= (y[j] - theta) * (y[j] - theta) / (2 * sigma[j] * sigma[j]);
    log_density -= (theta - q[0]) * (theta - q[0]) / (2 * q[1] * q[1]) + log(q[1]);
  }
  return log_density + 8 * log(q[1]);
}

static void test_schools_density(void) {
  const post_model *m = &post_model_schools;
  positions x;
  draw(x, 30, 1);
  double shift = value_at(m, x[0]).log_density - plain_density(m, x[0]);
  for (int c = 1; c < POST_CHAINS; c++)
    RGT_DBL(value_at(m, x[c]).log_density - plain_density(m, x[c]), shift, 1e-9);
}

/* --- regression -------------------------------------------------------------------------- */

/* Given s^2 the coefficients are Gaussian, with the same mean for every s^2 and a
 * covariance in proportion; so what is left of the density, integrated over them,
 * is the density at that mean times s^5. */
static void test_regression_truth(void) {
  enum { N = 5, STEPS = 4000 };
  const post_model *m = post_model_find("regression");
  post_model_moments t[POST_PARAMETERS];
  double sum[3] = {0}, x[POST_PARAMETERS] = {0}, highest = 0;
  m->truth(t);
  for (int k = 0; k < N; k++)
    x[k] = t[k].mean;
  for (int i = 0; i < STEPS; i++) {
    x[N] = log(t[N].mean) - 1 + 2.0 * i / STEPS;
    post_density v = value_at(m, x);
    for (int k = 0; k < N && i == 0; k++)
      RGT_DBL(v.gradient[k], 0, 1e-8);
    if (i == 0)
      highest = value_at(m, (double[POST_PARAMETERS]){x[0], x[1], x[2], x[3], x[4], log(t[N].mean)})
                    .log_density;
    double weight = exp(v.log_density - highest + 2.5 * x[N]), s2 = exp(x[N]);
    sum[0] += weight;
    sum[1] += weight * s2;
    sum[2] += weight * s2 * s2;
  }
  double mean = sum[1] / sum[0];
  RGT_DBL(t[N].mean, mean, 1e-9);
  RGT_DBL(t[N].sd, sqrt(sum[2] / sum[0] - mean * mean), 1e-9);
}

/* What is left in place k of the curvature at s^2 = 1 when all others have been
 * eliminated is the reciprocal of its inverse's element k, k. */
static double left_over(int n, double a[n][n], int k) {
  for (int e = 0; e < n; e++)
    for (int i = 0; i < n && e != k; i++) {
      double factor = i == e ? 0 : a[i][e] / a[e][e];
      for (int j = 0; j < n; j++)
        a[i][j] -= factor * a[e][j];
    }
  return a[k][k];
}

static void test_regression_widths(void) {
  enum { N = 5 };
  const post_model *m = post_model_find("regression");
  post_model_moments t[POST_PARAMETERS];
  double p[N][N];
  m->truth(t);
  post_density origin = value_at(m, (double[POST_PARAMETERS]){0});
  for (int k = 0; k < N; k++) {
    double x[POST_PARAMETERS] = {0};
    x[k] = 1;
    post_density v = value_at(m, x);
    for (int l = 0; l < N; l++)
      p[k][l] = origin.gradient[l] - v.gradient[l];
  }
  for (int k = 0; k < N; k++) {
    double a[N][N];
    memcpy(a, p, sizeof a);
    RGT_DBL(t[k].sd, sqrt(t[N].mean / left_over(N, a, k)), 1e-9);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"same bits", test_same_bits},
                                   {"gradient", test_gradient},
                                   {"catalogue", test_catalogue},
                                   {"schools: known values", test_schools_known},
                                   {"schools: grid", test_schools_grid},
                                   {"schools: density", test_schools_density},
                                   {"regression: truth", test_regression_truth},
                                   {"regression: widths", test_regression_widths},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "model", tests);
}
