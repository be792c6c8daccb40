/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The costs of a level from measured times. The model is linear: a measurement's
 * time is starts * t_s + bytes * t_w + combined * t_c. Fitted so that the mean of
 * |log(predicted / measured)| is least: a factor of two counts alike at a
 * microsecond and at a second, above and below, and an outlier weighs
 * no more than another measurement. No MPI. */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include "runtime/tuning.h"

typedef struct {
  double starts, bytes, combined; /* what the model multiplies */
  double seconds;                 /* measured, above 0 */
} bench_point;

typedef struct {
  rgi_tuning_level level; /* a value that no measurement depends on is 0 */
  double typical;         /* median of predicted / measured or its inverse, 1 or more */
  double worst;           /* the greatest */
  int within_two, n;      /* how many measurements are off by a factor of 2 at most */
} bench_fit;

double bench_fit_predict(const rgi_tuning_level *level, const bench_point *point);

/* Fits n measurements. Returns 1, or 0 when there is no memory or n is 0. */
int bench_fit_level(int n, const bench_point points[], bench_fit *fit);

#endif
