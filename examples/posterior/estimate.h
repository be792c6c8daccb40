/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Mean and variance of a quantity from the draws of several chains, each cut
 * into halves, how accurate they are, and how far from the truth. */
#ifndef POST_ESTIMATE_H
#define POST_ESTIMATE_H

#include "draws.h"
#include "model.h"

typedef struct {
  double mean, sd; /* of all draws */
  double rhat;     /* split R-hat: sd between and within over sd within the halves */
  double ess;      /* as many independent draws would know the mean as well */
  double mcse;     /* the standard error of the mean: sd / sqrt(ess) */
} post_estimate;

/* x[c * n + i] is draw i of chain c; n >= 4. The effective sample size is
 * worked out from the autocorrelation of all halves together, summed as long as
 * sums of neighbouring pairs are positive and fall (Geyer, Statistical Science
 * 7, 1992; Vehtari et al., Bayesian Analysis 16, 2021). Chains that never move
 * have an effective size of 0 and R-hat infinite, unless all draws are equal:
 * then 1 and R-hat 1. The second: of the squares of the draws' deviations from
 * their mean. Both return 1, or 0 without memory. */
int post_estimate_mean(const double *x, int64_t chains, int64_t n, post_estimate *estimate);
int post_estimate_variance(const double *x, int64_t chains, int64_t n, post_estimate *estimate);

typedef struct {
  const char *label;
  post_estimate mean, variance;
  double sd, sd_error; /* the root of the variance and its standard error */
  post_model_moments truth;
  double mean_off, sd_off; /* from the truth, in standard errors (of the variance) */
} post_estimate_line;

/* The limits that the draws must keep to pass. */
#define POST_LEAST_ESS 10000 /* the standard error of a moment is 1 % of its sd */
#define POST_MOST_RHAT 1.01
#define POST_MOST_OFF 4 /* standard errors from the truth */

/* Of sorted draws: fills line[0 .. parameters-1]. Returns 1, or 0 without
 * memory. */
int post_estimate_lines(const post_draws *draws, const post_model *model, int64_t samples,
                        post_estimate_line line[]);
/* How many lines miss the limits above; each gets a line on file, if that is
 * not NULL. */
int post_estimate_check(const post_estimate_line line[], int lines, FILE *file);

#endif
