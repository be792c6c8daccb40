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
  const char *operation; /* what was measured; NULL: what the command says */
  int ranks;             /* on so many; 0: on all of the job */
  const char *among;     /* of two groups: "local", "global", "inter"; NULL: there are none */
  bench_measured measured;
  double predicted, floor; /* seconds; 0: not known */
  json_t *more;            /* what else the JSON file says; may be NULL */
} bench_row;

typedef struct bench_report {
  const char *command;
  char title[128], note[320]; /* above and below the table; the note may be "" */
  int ranks;
  const char *x_name, *x_key; /* "members", and the key in the JSON file */
  int counted;                /* messages could be counted */
  int predicts, floor;        /* rows are compared with the model, with the floor */
  int rates;                  /* x is bytes that move: the table shows MB/s */
  const char *timing;         /* "each": the mean of the ranks; "stream"; NULL: as usual */
  int failed;                 /* what was found makes the exit status RGP_FAILED */
  json_t *facts;              /* how it was measured; the JSON file starts with them */
  int rows;
  bench_row *row;
  /* Prints another table than that of all rows; may be NULL. */
  void (*print)(const struct bench_report *r);
} bench_report;

/* Adds a row; `contender` must outlive the report. Rows with the same x follow
 * one another. Returns 1, or 0 when there is no memory. */
int bench_report_add(bench_report *r, int x, const char *contender, const bench_measured *m);

/* Says of the rows from the i-th on what was measured, on how many ranks. Rows of the
 * same operation and ranks follow one another; `operation` outlives the report. */
void bench_report_place(bench_report *r, int i, const char *operation, int ranks);

int bench_report_same_place(const bench_row *a, const bench_row *b);

/* Whether there are rows of several operations or numbers of ranks. */
int bench_report_mixed(const bench_report *r);

/* What the median of row i is compared with: the model's prediction and the least
 * that is possible, in seconds; 0 where there is none. */
void bench_report_compare(bench_report *r, int i, double predicted, double floor);

/* Adds the members of `more` to row i in the JSON file; takes the reference. */
void bench_report_tell(bench_report *r, int i, json_t *more);

/* The table for people, on standard output. */
void bench_report_print(const bench_report *r);

/* The facts, and under "results" all rows with every figure, in seconds. A new
 * reference. */
json_t *bench_report_json(const bench_report *r);

void bench_report_free(bench_report *r);

#endif
