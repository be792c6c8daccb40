/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pictures of draws, drawn by gnuplot. */
#ifndef POST_PLOT_H
#define POST_PLOT_H

#include "summary.h"

/* An SVG file with a row for each quantity: the first chains' draws in their
 * order, and the distribution of all draws with the true mean and one standard
 * deviation to each side. Returns 1; or 0 if gnuplot could not be run or failed. */
int post_plot(const char *path, const char *title, const post_draws_table *t,
              const post_summary_line line[]);

#endif
