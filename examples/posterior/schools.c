/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Eight schools (Rubin, J. Educational Statistics 6, 1981): y_j ~ N(theta_j,
 * sigma_j^2), theta_j ~ N(mu, tau^2), mu ~ N(0, 5^2), tau ~ half-Cauchy(0, 5).
 * Positions are mu / 5, log tau and (theta_j - mu) / tau. A block is a school.
 *
 * The truth: given tau, mu and theta are Gaussian; what is left is an integral
 * over tau. */
#include <math.h>

#include "model.h"

enum { SCHOOLS = 8, MU = 0, TAU = 1, ETA = 2 };
static const double y[SCHOOLS] = {28, 8, -3, 7, -1, 1, 18, 12};
static const double sigma[SCHOOLS] = {15, 10, 16, 11, 9, 11, 10, 18};
static const double width = 5; /* of the priors of mu and tau */

static double theta_of(const double position[], int j) {
  return width * position[MU] + exp(position[TAU]) * position[ETA + j];
}

static void block_of(int block, const double position[], double out[]) {
  double residual = (y[block] - theta_of(position, block)) / sigma[block];
  out[0] = -residual * residual / 2;
  out[1] = residual / sigma[block];
}

static void combine_blocks(const double *blocks, int stride, const double position[],
                           post_density *value) {
  double tau = exp(position[TAU]), ratio = tau / width, pull = 0, stretch = 0;
  double sum = position[TAU] - log1p(ratio * ratio) - position[MU] * position[MU] / 2;
  for (int j = 0; j < SCHOOLS; j++) {
    double eta = position[ETA + j], slope = blocks[j * stride + 1];
    sum += blocks[j * stride] - eta * eta / 2;
    pull += slope;
    stretch += slope * eta;
    value->gradient[ETA + j] = slope * tau - eta;
  }
  value->log_density = sum;
  value->gradient[MU] = width * pull - position[MU];
  value->gradient[TAU] = tau * stretch + 1 - 2 * ratio * ratio / (1 + ratio * ratio);
}

static void list_quantities(const double position[], double q[]) {
  q[0] = width * position[MU];
  q[1] = exp(position[TAU]);
  for (int j = 0; j < SCHOOLS; j++)
    q[2 + j] = theta_of(position, j);
}

/* First and second moments of all quantities given tau, times the density of
 * log tau (up to a constant), which comes before them. */
typedef struct {
  double weight, first[2 + SCHOOLS], second[2 + SCHOOLS];
} tau_slice;

static tau_slice slice_at(double log_tau) {
  tau_slice s;
  double t = exp(log_tau), variance = 1 / (width * width), mean = 0, log_weight = log_tau;
  log_weight -= log1p(t * t / (width * width));
  for (int j = 0; j < SCHOOLS; j++) {
    variance += 1 / (sigma[j] * sigma[j] + t * t);
    mean += y[j] / (sigma[j] * sigma[j] + t * t);
  }
  variance = 1 / variance;
  mean *= variance;
  log_weight += log(variance) / 2 - mean * mean / (2 * width * width);
  for (int j = 0; j < SCHOOLS; j++) {
    double v = sigma[j] * sigma[j] + t * t, pooled = sigma[j] * sigma[j] / v;
    log_weight -= log(v) / 2 + (y[j] - mean) * (y[j] - mean) / (2 * v);
    double centre = pooled * mean + (1 - pooled) * y[j];
    double spread = pooled * t * t + pooled * pooled * variance;
    s.first[2 + j] = centre;
    s.second[2 + j] = centre * centre + spread;
  }
  s.first[0] = mean;
  s.second[0] = mean * mean + variance;
  s.first[1] = t;
  s.second[1] = t * t;
  s.weight = exp(log_weight);
  return s;
}

/* The trapezoidal rule on log tau: the integrands fall off exponentially on
 * both sides, as t and as t^-6 at least, so that it converges to all digits. */
static void true_moments(post_model_moments moments[]) {
  const double from = -40, to = 12, step = 0.01;
  tau_slice sum = {0, {0}, {0}};
  for (int i = 0; i * step <= to - from; i++) {
    tau_slice s = slice_at(from + i * step);
    sum.weight += s.weight;
    for (int q = 0; q < 2 + SCHOOLS; q++) {
      sum.first[q] += s.weight * s.first[q];
      sum.second[q] += s.weight * s.second[q];
    }
  }
  for (int q = 0; q < 2 + SCHOOLS; q++) {
    double mean = sum.first[q] / sum.weight;
    moments[q] = (post_model_moments){mean, sqrt(sum.second[q] / sum.weight - mean * mean)};
  }
}

const post_model post_model_schools = {.name = "eight-schools",
                                       .samples = 2000,
                                       .parameters = 2 + SCHOOLS,
                                       .labels = {"mu", "tau", "theta1", "theta2", "theta3",
                                                  "theta4", "theta5", "theta6", "theta7", "theta8"},
                                       .blocks = SCHOOLS,
                                       .columns = 2,
                                       .block = block_of,
                                       .combine = combine_blocks,
                                       .quantities = list_quantities,
                                       .truth = true_moments};
