/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "tuning.h"

#include <math.h>
#include <string.h>

void post_tuning_start(post_tuning *t) {
  memset(t, 0, sizeof *t);
  t->log_size = log(0.1);
  for (int i = 0; i < POST_PARAMETERS; i++)
    t->width[i] = 1;
}

static void forget_measured(post_tuning *t) {
  t->measured = 0;
  memset(t->mean, 0, sizeof t->mean);
  memset(t->square, 0, sizeof t->square);
}

/* Welford's updating of mean and squares. */
static void measure_position(post_tuning *t, int parameters, const double *position) {
  t->measured++;
  for (int i = 0; i < parameters; i++) {
    double off = position[i] - t->mean[i];
    t->mean[i] += off / (double)t->measured;
    t->square[i] += off * (position[i] - t->mean[i]);
  }
}

/* The step size is in units of the widths: with new widths it is learnt anew. */
static void take_widths(post_tuning *t, int parameters) {
  for (int i = 0; i < parameters; i++)
    if (t->measured > 1 && t->square[i] > 0)
      t->width[i] = sqrt(t->square[i] / (double)(t->measured - 1));
  t->log_size = log(0.5);
  t->since = 0;
  forget_measured(t);
}

void post_tuning_learn(post_tuning *t, int64_t step, int64_t steps, double acceptance,
                       double target, int parameters, int chains, const double *position,
                       int stride) {
  t->since++;
  t->log_size += (acceptance - target) / pow((double)t->since, 0.6);
  if (step == steps / 8)
    forget_measured(t);
  for (int c = 0; c < chains; c++)
    measure_position(t, parameters, position + c * stride);
  if (step + 1 == steps / 4 || step + 1 == steps / 2)
    take_widths(t, parameters);
  int64_t last = steps - steps * 3 / 4;
  if (step >= steps - last)
    t->log_sum += t->log_size;
  if (step + 1 == steps)
    t->log_size = t->log_sum / (double)last;
}
