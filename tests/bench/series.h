/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The runs of a scaling study, from lists and from JSON files. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include "runtime/program/program.h"
#include "speedup.h"

#define BENCH_RUNS 256

/* Runs by growing p. */
typedef struct {
  int n, processors; /* of the machine, as a file says; 0: not known */
  bench_run run[BENCH_RUNS];
} bench_series;

/* What to look for in files. */
typedef struct {
  const char *where; /* "contender=auto,bytes=8": rows must have these values; or NULL */
  const char *time;  /* the name of the seconds; NULL: "median" or "seconds" */
  const char *work;  /* the name of the amount of work; NULL: "work" */
  int weak;          /* where it is missing: p, not 1 */
} bench_wanted;

/* Adds "1:10.0,2:5.2" or, with the work, "1:10:1,2:10.4:2". Return 0, or non-zero
 * after writing what is wrong to why. */
int bench_series_add_times(bench_series *s, const char *text, const bench_wanted *wanted,
                           char why[RGP_TEXT]);

/* Adds the runs of a file: its rows ("results"), or the file itself where it has
 * none. A row says "processes", or the file "ranks"; computation, communication and
 * idle are optional. */
int bench_series_add_file(bench_series *s, const char *path, const bench_wanted *wanted,
                          char why[RGP_TEXT]);

#endif
