/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(int n, const double sorted[], double p) {
  double at = p * (n - 1);
  int i = (int)at;
  return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* The probability that k of n values lie below the median. */
static double binomial_half(int n, int k) {
  return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0));
}

void bench_median_ranks(int n, double confidence, int *low, int *high) {
  double below = binomial_half(n, 0);
  int l = 0;
  while (2 * (l + 1) < n - 1) {
    below += binomial_half(n, l + 1);
    if (2 * below > 1 - confidence)
      break;
    l++;
  }
  *low = l;
  *high = n - 1 - l;
}

int bench_stats_of(int n, const double values[], bench_stats *stats) {
  int low, high;
  double *v = malloc((size_t)n * sizeof *v);
  if (!v)
    return 0;
  memcpy(v, values, (size_t)n * sizeof *v);
  qsort(v, (size_t)n, sizeof *v, compare);
  bench_median_ranks(n, CONFIDENCE, &low, &high);
  *stats = (bench_stats){.n = n,
                         .min = v[0],
                         .q1 = quantile(n, v, 0.25),
                         .median = quantile(n, v, 0.5),
                         .q3 = quantile(n, v, 0.75),
                         .max = v[n - 1],
                         .low = v[low],
                         .high = v[high]};
  double fence = 1.5 * (stats->q3 - stats->q1);
  for (int i = 0; i < n; i++)
    stats->outliers += v[i] < stats->q1 - fence || v[i] > stats->q3 + fence;
  free(v);
  return 1;
}

double bench_precision(const bench_stats *stats) {
  if (2 * binomial_half(stats->n, 0) > 1 - CONFIDENCE)
    return INFINITY;
  return (stats->high - stats->low) / 2 / stats->median;
}
