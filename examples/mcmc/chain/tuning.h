/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a sampler learns in a fixed number of steps at the beginning and keeps from then on: the
 * size of its steps, and the width of the posterior in each direction. The step size follows the
 * acceptance (Robbins and Monro); the widths are measured twice, from an eighth to a quarter and
 * from there to a half of the tuning. The step size in the end is the (geometric) mean over the
 * last quarter. */
#ifndef POST_TUNING_H
#define POST_TUNING_H

#include <stdint.h>

#include "../models/model.h"

typedef struct {
  double log_size, log_sum; /* of the step; summed over the last quarter */
  double width[POST_PARAMETERS];
  int64_t since, measured;                               /* steps since a new start; positions */
  double mean[POST_PARAMETERS], square[POST_PARAMETERS]; /* of those, square about the mean */
} post_tuning;

void post_tuning_start(post_tuning *t);

/* A step of the tuning: number `step` of `steps`. acceptance: that of the step,
 * the mean over the chains; target: what it should be. position[c * stride] begins
 * chain c's. */
void post_tuning_learn(post_tuning *t, int64_t step, int64_t steps, double acceptance,
                       double target, int parameters, int chains, const double *position,
                       int stride);

#endif
