/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Mean and variance of a quantity from the draws of several chains, each cut into halves, and how
 * accurate they are. */
#ifndef POST_ESTIMATE_H
#define POST_ESTIMATE_H

#include <stdint.h>

typedef struct {
  double mean, sd; /* of all draws */
  double rhat;     /* split R-hat: sd between and within over sd within the halves */
  double ess;      /* as many independent draws would know the mean as well */
  double mcse;     /* the standard error of the mean: sd / sqrt(ess) */
} post_estimate;

/* x[c * n + i] is draw i of chain c; n >= 4. The effective sample size is worked
 * out from the autocorrelation of all halves together, summed as long as sums of
 * neighbouring pairs are positive and fall (Geyer, Statistical Science 7, 1992;
 * Vehtari et al., Bayesian Analysis 16, 2021). Chains that never move have an
 * effective size of 0 and R-hat infinite, unless all draws are equal: then 1 and
 * R-hat 1. Local. Returns 1, or 0 without memory. */
int post_estimate_mean(const double *x, int64_t chains, int64_t n, post_estimate *e);

/* The same for the squares of the draws' deviations from their mean. */
int post_estimate_variance(const double *x, int64_t chains, int64_t n, post_estimate *e);

#endif
