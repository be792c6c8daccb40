/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A Gaussian linear inverse problem: -u'' = f on (0, 1), u(0) = u(1) = 0, with
 * f(x) = sum a_k sin(k pi x). A priori a_k ~ N(0, (10 / k)^2), independent; u is
 * observed at some points with Gaussian noise. Positions are a_k k / 10.
 *
 * The solve is distributed: linear finite elements on `cells` cells, 16 blocks of
 * equal size. Each block eliminates its inner nodes; what is left is a small
 * tridiagonal system for the nodes between blocks, which every member solves.
 * The adjoint goes the same way back. In one dimension the elements' solution is
 * exact at the nodes, so the posterior is the same for every number of cells. */
#include <math.h>
#include <regroup/random.h>
#include <stdlib.h>

#include "matrix.h"

#define PI 3.14159265358979323846
enum { MODES = 8, BLOCKS = 16, OBSERVED = 9, DATA_SEED = 1 };
static const double noise = 0.05;
/* The observed nodes: multiples of 1 / BLOCKS. */
static const int place[OBSERVED] = {1, 2, 4, 5, 7, 9, 10, 12, 15};

const char *const post_model_poisson_labels[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};

typedef struct {
  int inside; /* cells of a block */
  double y[OBSERVED];
  double load[MODES];   /* of a node, for a position of 1, without the sine */
  double sine[][MODES]; /* at the nodes 0 .. cells-1 */
} poisson_data;

static double prior_sd(int k) {
  return 10.0 / (k + 1);
}

/* u at x = i / BLOCKS for a position of 1 in mode k: the sine is an
 * eigenfunction. */
static double response_at(int k, int i) {
  double w = (k + 1) * PI;
  return prior_sd(k) * sin(w * i / BLOCKS) / (w * w);
}

/* Observations of a source drawn from the prior: always the same. */
static void make_observations(poisson_data *d) {
  rg_random of_source = {.seed = DATA_SEED, .walker = UINT64_MAX, .step = 0};
  rg_random of_error = {.seed = DATA_SEED, .walker = UINT64_MAX, .step = 1};
  double source[MODES], error[OBSERVED];
  rg_random_normal(&of_source, MODES, source);
  rg_random_normal(&of_error, OBSERVED, error);
  for (int j = 0; j < OBSERVED; j++) {
    d->y[j] = noise * error[j];
    for (int k = 0; k < MODES; k++)
      d->y[j] += source[k] * response_at(k, place[j]);
  }
}

static double load_at(const poisson_data *d, const double position[], int node) {
  double sum = 0;
  for (int k = 0; k < MODES; k++)
    sum += d->load[k] * position[k] * d->sine[node][k];
  return sum;
}

/* Eliminates the nodes inside the block: their load moves to its ends, to the
 * right one by the sweep and the rest to the left one, whose own load is the
 * block's too. */
static void condense_block(const post_model *m, int block, const double position[], double out[2]) {
  const poisson_data *d = m->data;
  int inside = d->inside, first = block * inside;
  double right = 0, all = load_at(d, position, first);
  for (int i = 1; i < inside; i++) {
    double load = load_at(d, position, first + i);
    all += load;
    right = (right + load) * i / (i + 1);
  }
  out[0] = all - right;
  out[1] = right;
}

/* The block's part of the adjoint's product with the loads. The adjoint is
 * linear between the nodes given in ends. */
static void project_block(const post_model *m, int block, const double ends[], double out[MODES]) {
  const poisson_data *d = m->data;
  int inside = d->inside, first = block * inside;
  for (int k = 0; k < MODES; k++)
    out[k] = 0;
  for (int i = 0; i < inside; i++) {
    double part = (double)i / inside, value = (1 - part) * ends[block] + part * ends[block + 1];
    for (int k = 0; k < MODES; k++)
      out[k] += value * d->sine[first + i][k];
  }
  for (int k = 0; k < MODES; k++)
    out[k] *= d->load[k];
}

static void block_of(const post_model *m, int stage, int block, const double position[],
                     const double carried[POST_CARRIED], double out[]) {
  if (stage == 0)
    condense_block(m, block, position, out);
  else
    project_block(m, block, carried, out);
}

/* Solves BLOCKS (-u[i-1] + 2 u[i] - u[i+1]) = u[i] in place; both ends are 0. */
static void solve_ends(double u[BLOCKS + 1]) {
  u[0] = u[BLOCKS] = 0;
  for (int i = 1; i < BLOCKS; i++)
    u[i] = (u[i] / BLOCKS + u[i - 1]) * i / (i + 1);
  for (int i = BLOCKS - 1; i >= 1; i--)
    u[i] += u[i + 1] * i / (i + 1);
}

/* Leaves the adjoint at the blocks' ends in u. */
static double compare_fit(const poisson_data *d, double u[BLOCKS + 1]) {
  double fit[BLOCKS + 1] = {0}, sum = 0;
  for (int j = 0; j < OBSERVED; j++) {
    double residual = d->y[j] - u[place[j]];
    fit[place[j]] = residual / (noise * noise);
    sum += residual * residual;
  }
  solve_ends(fit);
  for (int i = 0; i <= BLOCKS; i++)
    u[i] = fit[i];
  return -sum / (2 * noise * noise);
}

static void combine_blocks(const post_model *m, int stage, const double *blocks, int stride,
                           const double position[], double carried[POST_CARRIED],
                           double *log_density, double gradient[]) {
  if (stage == 0) {
    for (int i = 1; i < BLOCKS; i++)
      carried[i] = blocks[i * stride] + blocks[(i - 1) * stride + 1];
    solve_ends(carried);
    *log_density = compare_fit(m->data, carried);
    for (int k = 0; k < MODES; k++)
      *log_density -= position[k] * position[k] / 2;
    return;
  }
  for (int k = 0; k < MODES; k++) {
    gradient[k] = -position[k];
    for (int b = 0; b < BLOCKS; b++)
      gradient[k] += blocks[b * stride + k];
  }
}

static void list_quantities(const post_model *m, const double position[], double q[]) {
  (void)m;
  for (int k = 0; k < MODES; k++)
    q[k] = prior_sd(k) * position[k];
}

/* With u = G z at the observed points and z ~ N(0, 1): the covariance is
 * (I + G'G / noise^2)^-1, the mean is that times G'y / noise^2. */
static void true_moments(const post_model *m, post_model_moments t[]) {
  const poisson_data *d = m->data;
  post_matrix precision = {.rows = MODES};
  double right[MODES], mean[MODES];
  for (int i = 0; i < MODES; i++) {
    right[i] = 0;
    for (int j = 0; j < OBSERVED; j++)
      right[i] += response_at(i, place[j]) * d->y[j] / (noise * noise);
    for (int k = 0; k < MODES; k++) {
      precision.at[i][k] = i == k;
      for (int j = 0; j < OBSERVED; j++)
        precision.at[i][k] += response_at(i, place[j]) * response_at(k, place[j]) / (noise * noise);
    }
  }
  post_matrix covariance = post_matrix_inverse(&precision);
  post_matrix_apply(&covariance, right, mean);
  for (int k = 0; k < MODES; k++)
    t[k] = (post_model_moments){prior_sd(k) * mean[k], prior_sd(k) * sqrt(covariance.at[k][k])};
}

/* The load of node x is the integral of f times the node's hat function:
 * 4 sin^2(w h / 2) / (h w^2) sin(w x) for the source sin(w x). */
static void tabulate_sines(poisson_data *d, int cells) {
  double h = 1.0 / cells;
  for (int k = 0; k < MODES; k++) {
    double w = (k + 1) * PI, s = sin(w * h / 2);
    d->load[k] = prior_sd(k) * 4 * s * s / (h * w * w);
    for (int i = 0; i < cells; i++)
      d->sine[i][k] = sin(w * i * h);
  }
}

/* Each block has as many cells as the scale says. */
post_model *post_model_poisson_make(int scale) {
  post_model *m = malloc(sizeof *m);
  int cells = BLOCKS * scale;
  poisson_data *d = malloc(sizeof *d + (size_t)cells * sizeof *d->sine);
  if (!m || !d) {
    free(m);
    free(d);
    return NULL;
  }
  d->inside = scale;
  make_observations(d);
  tabulate_sines(d, cells);
  *m = (post_model){.parameters = MODES,
                    .quantities = MODES,
                    .blocks = BLOCKS,
                    .stages = 2,
                    .columns = {2, MODES},
                    .block = block_of,
                    .combine = combine_blocks,
                    .quantity = list_quantities,
                    .truth = true_moments,
                    .data = d};
  return m;
}
