/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A report as a table for spreadsheets and scripts: comma-separated values (RFC
 * 4180) with a line of names, times in seconds. */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H

#include <stdio.h>

#include "report.h"

/* Writes all rows and closes f; NULL f does nothing. Returns 1, or 0 after one line
 * on standard error. */
int bench_write_csv(const char *program, const char *path, FILE *f, const bench_report *r);

#endif
