/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The result of a run, for people and for programs. For the rank that has the
 * draws. */
#ifndef POST_REPORT_H
#define POST_REPORT_H

#include "estimate.h"
#include "options.h"

typedef struct {
  int ranks;
  double seconds;
  int64_t tried, accepted; /* proposals of all walkers after the tuning */
  uint64_t checksum;
  post_estimate_line line[POST_PARAMETERS];
  int deaths; /* ranks that have died, and the seconds from noticing that to
                 going on */
  double lost;
  int missed; /* moments' lines that do not pass the check */
} post_report;

void post_report_print(const post_options *options, const post_report *report);
json_t *post_report_json(const post_options *options, const post_report *report);

#endif
