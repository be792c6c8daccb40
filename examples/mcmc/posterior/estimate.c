/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Means and covariances of the halves of the chains, and from them R-hat, the effective sample size
 * and the standard error. */
#include "estimate.h"

#include <math.h>
#include <stdlib.h>

/* The halves of the chains. Of an odd number of draws the middle one is in neither half. */
typedef struct {
  const double *x;
  int64_t n, halves, length;
  double *mean;         /* of each half */
  double within, total; /* variance: in the halves, and of the target as estimated from all */
} split_chains;

static const double *half_of(const split_chains *s, int64_t h) {
  return s->x + h / 2 * s->n + (h % 2 ? s->n - s->length : 0);
}

/* The autocovariance at a lag, the mean over the halves. */
static double autocovariance_at(const split_chains *s, int64_t lag) {
  double sum = 0;
  for (int64_t h = 0; h < s->halves; h++) {
    const double *x = half_of(s, h);
    double mean = s->mean[h];
    for (int64_t i = 0; i + lag < s->length; i++)
      sum += (x[i] - mean) * (x[i + lag] - mean);
  }
  return sum / (double)(s->halves * s->length);
}

static int split_up(split_chains *s) {
  double middle = 0, between = 0;
  s->mean = calloc((size_t)s->halves, sizeof *s->mean);
  if (!s->mean)
    return 0;
  for (int64_t h = 0; h < s->halves; h++) {
    for (int64_t i = 0; i < s->length; i++)
      s->mean[h] += half_of(s, h)[i];
    s->mean[h] /= (double)s->length;
    middle += s->mean[h] / (double)s->halves;
  }
  for (int64_t h = 0; h < s->halves; h++)
    between += (s->mean[h] - middle) * (s->mean[h] - middle) / (double)(s->halves - 1);
  double biased = autocovariance_at(s, 0);
  s->within = biased * (double)s->length / (double)(s->length - 1);
  s->total = biased + between;
  return 1;
}

static double correlation_at(const split_chains *s, int64_t lag) {
  return lag == 0 ? 1 : 1 - (s->within - autocovariance_at(s, lag)) / s->total;
}

/* The time over which draws are correlated, in draws: 1 + 2 (sum of the
 * correlations). */
static double correlation_time(const split_chains *s) {
  double sum = 0, least = HUGE_VAL;
  for (int64_t lag = 0; lag + 1 < s->length; lag += 2) {
    double pair = correlation_at(s, lag) + correlation_at(s, lag + 1);
    if (!(pair > 0))
      break;
    least = pair < least ? pair : least;
    sum += least;
  }
  return 2 * sum - 1;
}

static void estimate_whole(const double *x, int64_t count, post_estimate *e) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; i++)
    sum += x[i];
  e->mean = sum / (double)count;
  for (int64_t i = 0; i < count; i++)
    squares += (x[i] - e->mean) * (x[i] - e->mean);
  e->sd = sqrt(squares / (double)(count - 1));
}

int post_estimate_mean(const double *x, int64_t chains, int64_t n, post_estimate *e) {
  split_chains s = {.x = x, .n = n, .halves = 2 * chains, .length = n / 2};
  double draws = (double)(s.halves * s.length);
  if (!split_up(&s))
    return 0;
  estimate_whole(x, chains * n, e);
  if (s.within > 0) {
    double time = correlation_time(&s), least = 1 / log10(draws);
    e->rhat = sqrt(s.total / s.within);
    e->ess = draws / (time > least ? time : least);
  } else {
    e->rhat = s.total > 0 ? HUGE_VAL : 1;
    e->ess = s.total > 0 ? 0 : 1;
  }
  e->mcse = e->sd / sqrt(e->ess);
  free(s.mean);
  return 1;
}

int post_estimate_variance(const double *x, int64_t chains, int64_t n, post_estimate *e) {
  double *square = malloc((size_t)(chains * n) * sizeof *square), mean = 0;
  if (!square)
    return 0;
  for (int64_t i = 0; i < chains * n; i++)
    mean += x[i] / (double)(chains * n);
  for (int64_t i = 0; i < chains * n; i++)
    square[i] = (x[i] - mean) * (x[i] - mean);
  int good = post_estimate_mean(square, chains, n, e);
  free(square);
  return good;
}
