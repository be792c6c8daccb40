/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A posterior's moments from draws, beside the true ones. */
#ifndef POST_SUMMARY_H
#define POST_SUMMARY_H

#include "../chain/draws.h"
#include "estimate.h"

typedef struct {
  const char *label;
  post_estimate mean, variance;
  double sd, sd_error; /* the root of the variance and its standard error */
  post_model_moments truth;
  double mean_off, sd_off; /* from the truth, in standard errors (of the variance) */
} post_summary_line;

/* The limits that the draws must keep to pass. */
#define POST_LEAST_ESS 10000 /* the standard error of a moment is 1 % of its sd */
#define POST_MOST_RHAT 1.01
#define POST_MOST_OFF 4 /* standard errors from the truth */

/* Fills line[0 .. quantities-1]. Returns 1, or 0 without memory. */
int post_summary_make(const post_draws_table *t, const post_model *m, const char *const labels[],
                      post_summary_line line[]);

/* How many lines miss the limits above; each gets a line on f, if f is not
 * NULL. */
int post_summary_check(const post_summary_line line[], int lines, FILE *f);

#endif
