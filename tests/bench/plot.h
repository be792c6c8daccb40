/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The picture of a report: time over size, both on logarithmic axes, a line for
 * each contender with its quartiles as bars. Drawn by gnuplot as self-contained
 * SVG. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "report.h"

/* Runs gnuplot; call it when MPI has ended. Returns 1, or 0 after one line on
 * standard error. */
int bench_plot(const char *program, const char *path, const bench_report *r);

#endif
