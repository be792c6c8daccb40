/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Means and covariances of the halves of the chains, and from them R-hat, the
 * effective sample size and the standard error. */
#include "estimate.h"

#include <math.h>
#include <stdlib.h>

/* The halves of the chains. Of an odd number of draws the middle one is in
 * neither half. */
typedef struct {
  const double *x;
  int64_t n, halves, length;
  double *mean;         /* of each half */
  double within, total; /* variance: in the halves, and of the target as
                           estimated from all */
} split_chains;

static const double *half_of(const split_chains *split, int64_t h) {
  return split->x + h / 2 * split->n + (h % 2 ? split->n - split->length : 0);
}

/* The autocovariance at a lag, the mean over the halves. */
static double autocovariance_at(const split_chains *split, int64_t lag) {
  double sum = 0;
  for (int64_t h = 0; h < split->halves; h++) {
    const double *x = half_of(split, h);
    double mean = split->mean[h];
    for (int64_t i = 0; i + lag < split->length; i++)
      sum += (x[i] - mean) * (x[i + lag] - mean);
  }
  return sum / (double)(split->halves * split->length);
}

static int split_up(split_chains *split) {
  double middle = 0, between = 0;
  split->mean = calloc((size_t)split->halves, sizeof *split->mean);
  if (!split->mean)
    return 0;
  for (int64_t h = 0; h < split->halves; h++) {
    for (int64_t i = 0; i < split->length; i++)
      split->mean[h] += half_of(split, h)[i];
    split->mean[h] /= (double)split->length;
    middle += split->mean[h] / (double)split->halves;
  }
  for (int64_t h = 0; h < split->halves; h++)
    between += (split->mean[h] - middle) * (split->mean[h] - middle) / (double)(split->halves - 1);
  double biased = autocovariance_at(split, 0);
  split->within = biased * (double)split->length / (double)(split->length - 1);
  split->total = biased + between;
  return 1;
}

static double correlation_at(const split_chains *split, int64_t lag) {
  return lag == 0 ? 1 : 1 - (split->within - autocovariance_at(split, lag)) / split->total;
}

/* The time over which draws are correlated, in draws: 1 + 2 (sum of the
 * correlations). */
static double correlation_time(const split_chains *split) {
  double sum = 0, least = HUGE_VAL;
  for (int64_t lag = 0; lag + 1 < split->length; lag += 2) {
    double pair = correlation_at(split, lag) + correlation_at(split, lag + 1);
    if (!(pair > 0))
      break;
    least = pair < least ? pair : least;
    sum += least;
  }
  return 2 * sum - 1;
}

static void estimate_whole(const double *x, int64_t count, post_estimate *estimate) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; i++)
    sum += x[i];
  estimate->mean = sum / (double)count;
  for (int64_t i = 0; i < count; i++)
    squares += (x[i] - estimate->mean) * (x[i] - estimate->mean);
  estimate->sd = sqrt(squares / (double)(count - 1));
}

int post_estimate_mean(const double *x, int64_t chains, int64_t n, post_estimate *estimate) {
  split_chains split = {.x = x, .n = n, .halves = 2 * chains, .length = n / 2};
  double draws = (double)(split.halves * split.length);
  if (!split_up(&split))
    return 0;
  estimate_whole(x, chains * n, estimate);
  if (split.within > 0) {
    double time = correlation_time(&split), least = 1 / log10(draws);
    estimate->rhat = sqrt(split.total / split.within);
    estimate->ess = draws / (time > least ? time : least);
  } else {
    estimate->rhat = split.total > 0 ? HUGE_VAL : 1;
    estimate->ess = split.total > 0 ? 0 : 1;
  }
  estimate->mcse = estimate->sd / sqrt(estimate->ess);
  free(split.mean);
  return 1;
}

int post_estimate_variance(const double *x, int64_t chains, int64_t n, post_estimate *estimate) {
  double *square = malloc((size_t)(chains * n) * sizeof *square), mean = 0;
  if (!square)
    return 0;
  for (int64_t i = 0; i < chains * n; i++)
    mean += x[i] / (double)(chains * n);
  for (int64_t i = 0; i < chains * n; i++)
    square[i] = (x[i] - mean) * (x[i] - mean);
  int good = post_estimate_mean(square, chains, n, estimate);
  free(square);
  return good;
}

/* --- beside the truth ------------------------------------------------------------------------ */

/* A quantity's draws, chain after chain. */
static void list_draws(const post_draws *draws, const post_model *model, int64_t samples, int q,
                       double *x) {
  for (int64_t i = 0; i < draws->used / draws->length; i++)
    for (int c = 0; c < POST_CHAINS; c++)
      x[(i / samples * POST_CHAINS + c) * samples + i % samples] =
          draws->number[i * draws->length + 2 + c * model->parameters + q];
}

static int fill_line(const double *x, int64_t chains, int64_t samples, post_estimate_line *line) {
  double truth = line->truth.sd * line->truth.sd;
  if (!post_estimate_mean(x, chains, samples, &line->mean) ||
      !post_estimate_variance(x, chains, samples, &line->variance))
    return 0;
  line->sd = sqrt(line->variance.mean);
  line->sd_error = line->variance.mcse / (2 * line->sd);
  line->mean_off = (line->mean.mean - line->truth.mean) / line->mean.mcse;
  line->sd_off = (line->variance.mean - truth) / line->variance.mcse;
  return 1;
}

int post_estimate_lines(const post_draws *draws, const post_model *model, int64_t samples,
                        post_estimate_line line[]) {
  post_model_moments truth[POST_PARAMETERS];
  int64_t chains = draws->used / draws->length / samples * POST_CHAINS;
  double *x = malloc((size_t)(chains * samples) * sizeof *x);
  int good = x != NULL;
  model->truth(truth);
  for (int q = 0; q < model->parameters && good; q++) {
    line[q] = (post_estimate_line){.label = model->labels[q], .truth = truth[q]};
    list_draws(draws, model, samples, q, x);
    good = fill_line(x, chains, samples, &line[q]);
  }
  free(x);
  return good;
}

/* A value that is not a number passes nothing. */
static int misses_limit(const char *label, const char *moment, const post_estimate *estimate,
                        double off, FILE *file) {
  int ess = !(estimate->ess >= POST_LEAST_ESS), rhat = !(estimate->rhat <= POST_MOST_RHAT);
  int far = !(fabs(off) <= POST_MOST_OFF);
  if (ess && file)
    fprintf(file, "%s of %s: the effective sample size is %.0f, less than %d\n", moment, label,
            estimate->ess, POST_LEAST_ESS);
  if (rhat && file)
    fprintf(file, "%s of %s: R-hat is %.4f, more than %.2f\n", moment, label, estimate->rhat,
            POST_MOST_RHAT);
  if (far && file)
    fprintf(file, "%s of %s: it is %.2f standard errors from the truth, more than %d\n", moment,
            label, off, POST_MOST_OFF);
  return ess || rhat || far;
}

int post_estimate_check(const post_estimate_line line[], int lines, FILE *file) {
  int missed = 0;
  for (int i = 0; i < lines; i++) {
    int mean = misses_limit(line[i].label, "mean", &line[i].mean, line[i].mean_off, file);
    int sd = misses_limit(line[i].label, "sd", &line[i].variance, line[i].sd_off, file);
    missed += mean || sd;
  }
  return missed;
}
