/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "summary.h"

#include <math.h>

int post_summary_make(const post_draws_table *t, const post_model *m, const char *const labels[],
                      post_summary_line line[]) {
  post_model_moments truth[POST_QUANTITIES];
  m->truth(m, truth);
  for (int q = 0; q < t->quantities; q++) {
    post_summary_line *l = &line[q];
    const double *x = post_draws_table_chain(t, q, 0);
    *l = (post_summary_line){.label = labels[q], .truth = truth[q]};
    if (!post_estimate_mean(x, t->chains, t->samples, &l->mean) ||
        !post_estimate_variance(x, t->chains, t->samples, &l->variance))
      return 0;
    l->sd = sqrt(l->variance.mean);
    l->sd_error = l->variance.mcse / (2 * l->sd);
    l->mean_off = (l->mean.mean - truth[q].mean) / l->mean.mcse;
    l->sd_off = (l->variance.mean - truth[q].sd * truth[q].sd) / l->variance.mcse;
  }
  return 1;
}

/* A value that is not a number passes nothing. */
static int misses_limit(const char *label, const char *moment, const post_estimate *e, double off,
                        FILE *f) {
  int ess = !(e->ess >= POST_LEAST_ESS), rhat = !(e->rhat <= POST_MOST_RHAT);
  int far = !(fabs(off) <= POST_MOST_OFF);
  if (ess && f)
    fprintf(f, "%s of %s: the effective sample size is %.0f, less than %d\n", moment, label, e->ess,
            POST_LEAST_ESS);
  if (rhat && f)
    fprintf(f, "%s of %s: R-hat is %.4f, more than %.2f\n", moment, label, e->rhat, POST_MOST_RHAT);
  if (far && f)
    fprintf(f, "%s of %s: it is %.2f standard errors from the truth, more than %d\n", moment, label,
            off, POST_MOST_OFF);
  return ess || rhat || far;
}

int post_summary_check(const post_summary_line line[], int lines, FILE *f) {
  int missed = 0;
  for (int i = 0; i < lines; i++) {
    int mean = misses_limit(line[i].label, "mean", &line[i].mean, line[i].mean_off, f);
    int sd = misses_limit(line[i].label, "sd", &line[i].variance, line[i].sd_off, f);
    missed += mean || sd;
  }
  return missed;
}
