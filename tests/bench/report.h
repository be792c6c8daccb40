/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a command found: rows for the table, the JSON file and the plot. Lives on
 * rank 0. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <jansson.h>

#include "sampler.h"

typedef struct {
  int x;
  const char *contender;
  bench_measured measured;
} bench_row;

typedef struct {
  const char *command;
  char title[128], note[256]; /* above and below the table; the note may be "" */
  int ranks;
  const char *x_name, *x_key; /* "members", and the key in the JSON file */
  int counted;                /* messages could be counted */
  json_t *facts;              /* how it was measured; the JSON file starts with them */
  int rows;
  bench_row *row;
} bench_report;

/* Adds a row; `contender` must outlive the report. Rows with the same x follow
 * one another. Returns 1, or 0 when there is no memory. */
int bench_report_add(bench_report *r, int x, const char *contender, const bench_measured *m);

/* The table for people, on standard output. */
void bench_report_print(const bench_report *r);

/* The facts, and under "results" all rows with every figure, in seconds. A new
 * reference. */
json_t *bench_report_json(const bench_report *r);

void bench_report_free(bench_report *r);

#endif
