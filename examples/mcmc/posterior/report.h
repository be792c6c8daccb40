/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The result of a run, for people and for programs. For the rank that has the
 * draws. */
#ifndef POST_REPORT_H
#define POST_REPORT_H

#include "options.h"
#include "summary.h"

typedef struct {
  int ranks;
  double seconds;
  int64_t tried, accepted; /* proposals of all walkers after the tuning */
  uint64_t checksum;
  post_draws_table draws;
  post_summary_line line[POST_QUANTITIES];
  int deaths; /* ranks that have died, and the seconds from noticing that to going on */
  double lost;
  int missed; /* moments' lines that do not pass the check */
} post_report_result;

void post_report_print(const post_options *o, const post_report_result *r);
json_t *post_report_json(const post_options *o, const post_report_result *r);

/* Writes draws and plot if the options ask for them. draws: the open file, which is closed. Returns
 * 1, or 0 after a line on standard error. */
int post_report_files(const post_options *o, const post_report_result *r, FILE *draws);

#endif
