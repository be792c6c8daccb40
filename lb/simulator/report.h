/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The results of simulations: a table, JSON, a figure. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "options.h"

typedef struct {
  const char *pattern, *policy;
  int64_t ranks;
  sim_result result;
  double took; /* seconds that the simulation took */
} sim_report_row;

void sim_report_print(const sim_options *options, const sim_report_row rows[], int count);
json_t *sim_report_json(const sim_options *options, const sim_report_row rows[], int count);

/* Draws seconds by ranks, with a line for each policy and pattern. Returns 1, or 0
 * after one line on standard error. path NULL: does nothing. */
int sim_report_plot(const sim_options *options, const sim_report_row rows[], int count);

/* The published seconds for this policy and number of ranks, or 0. */
double sim_report_published(const char *policy, int64_t ranks);

#endif
