/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Least absolute deviations of logarithms by least squares with weights: each
 * measurement weighs the less the further it is off (Schlossmacher 1973), each step
 * is damped (Levenberg 1944, Marquardt 1963). The unknowns are the logarithms of
 * the costs, which keeps these above 0. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

#define COSTS 3
#define ROUNDS 200
#define LEAST 1e-12 /* seconds: nothing is cheaper */

/* |x| is taken as sqrt(x^2 + width^2), which is smooth; width shrinks from step to step. */
#define NEAR_FIRST 0.3
#define NEAR_LAST 1e-7

typedef struct {
  double a[COSTS][COSTS], b[COSTS];
} equations;

static double factor(const bench_point *point, int k) {
  return k == 0 ? point->starts : k == 1 ? point->bytes : point->combined;
}

static double predict(const double cost[COSTS], const bench_point *point) {
  double sum = 0;
  for (int k = 0; k < COSTS; k++)
    sum += factor(point, k) * cost[k];
  return sum;
}

double bench_fit_predict(const rgi_tuning_level *level, const bench_point *point) {
  return predict((double[]){level->ts, level->tw, level->tc}, point);
}

static double deviation(const double cost[COSTS], int n, const bench_point points[], double width) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += hypot(log(predict(cost, &points[i]) / points[i].seconds), width);
  return sum;
}

/* A cost alone would be the median of what the measurements give it, if each of the
 * three took an equal part. */
static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void begin(double cost[COSTS], int n, const bench_point points[], double *room) {
  for (int k = 0; k < COSTS; k++) {
    int m = 0;
    for (int i = 0; i < n; i++)
      if (factor(&points[i], k) > 0)
        room[m++] = points[i].seconds / factor(&points[i], k) / COSTS;
    qsort(room, (size_t)m, sizeof *room, compare);
    cost[k] = m ? room[m / 4] : 0; /* where the cost matters most, it is least */
  }
}

/* The normal equations for a step of the costs' logarithms. */
static void set_up(equations *e, const double cost[COSTS], int n, const bench_point points[],
                   double width) {
  *e = (equations){{{0}}, {0}};
  for (int i = 0; i < n; i++) {
    double time = predict(cost, &points[i]), off = log(points[i].seconds / time);
    double weight = 1 / hypot(off, width), slope[COSTS];
    for (int k = 0; k < COSTS; k++)
      slope[k] = factor(&points[i], k) * cost[k] / time;
    for (int k = 0; k < COSTS; k++) {
      e->b[k] += weight * slope[k] * off;
      for (int l = 0; l < COSTS; l++)
        e->a[k][l] += weight * slope[k] * slope[l];
    }
  }
}

/* Solves (a + damping diag a) x = b by elimination; a is symmetric and positive. */
static void solve(const equations *given, double damping, double x[COSTS]) {
  equations e = *given;
  for (int k = 0; k < COSTS; k++)
    e.a[k][k] = e.a[k][k] * (1 + damping) + 1e-30;
  for (int k = 0; k < COSTS; k++)
    for (int l = k + 1; l < COSTS; l++) {
      double f = e.a[l][k] / e.a[k][k];
      for (int m = k; m < COSTS; m++)
        e.a[l][m] -= f * e.a[k][m];
      e.b[l] -= f * e.b[k];
    }
  for (int k = COSTS - 1; k >= 0; k--) {
    x[k] = e.b[k];
    for (int l = k + 1; l < COSTS; l++)
      x[k] -= e.a[k][l] * x[l];
    x[k] /= e.a[k][k];
  }
}

static void step(double to[COSTS], const double from[COSTS], const double by[COSTS]) {
  for (int k = 0; k < COSTS; k++)
    to[k] = from[k] > 0 ? fmax(LEAST, from[k] * exp(fmax(-2, fmin(2, by[k])))) : 0;
}

static void improve(double cost[COSTS], int n, const bench_point points[], double width) {
  double damping = 1e-2, best = deviation(cost, n, points, width);
  for (int round = 0; round < ROUNDS && damping < 1e9; round++) {
    equations e;
    double by[COSTS], tried[COSTS];
    set_up(&e, cost, n, points, width);
    solve(&e, damping, by);
    step(tried, cost, by);
    double now = deviation(tried, n, points, width);
    damping = now < best ? fmax(damping / 4, 1e-9) : damping * 3;
    for (int k = 0; k < COSTS && now < best; k++)
      cost[k] = tried[k];
    best = fmin(best, now);
  }
}

static void judge(bench_fit *fit, int n, const bench_point points[], double *room) {
  for (int i = 0; i < n; i++) {
    double ratio = bench_fit_predict(&fit->level, &points[i]) / points[i].seconds;
    room[i] = ratio < 1 ? 1 / ratio : ratio;
    fit->within_two += room[i] <= 2;
  }
  qsort(room, (size_t)n, sizeof *room, compare);
  fit->n = n;
  fit->typical = n % 2 ? room[n / 2] : (room[n / 2 - 1] + room[n / 2]) / 2;
  fit->worst = room[n - 1];
}

int bench_fit_level(int n, const bench_point points[], bench_fit *fit) {
  double cost[COSTS], *room = n > 0 ? malloc((size_t)n * sizeof *room) : NULL;
  if (!room)
    return 0;
  begin(cost, n, points, room);
  for (double width = NEAR_FIRST; width >= NEAR_LAST; width /= 3)
    improve(cost, n, points, width);
  *fit = (bench_fit){.level = {cost[0], cost[1], cost[2]}};
  judge(fit, n, points, room);
  free(room);
  return 1;
}
