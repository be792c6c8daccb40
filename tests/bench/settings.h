/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The options that all commands share, and lists as values of options. */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "runtime/program/program.h"
#include "sampler.h"

typedef struct {
  int reps;
  double time_limit; /* seconds, for the whole run */
  double precision;  /* per cent */
  char *json, *csv, *svg;
  int quiet, verify;
} bench_settings;

/* As given on the command line. */
extern bench_settings bench_given;
extern const struct poptOption bench_file_options[], bench_picture_options[];
extern const struct poptOption bench_shared_options[]; /* of commands that measure */
extern const struct poptOption bench_csv_options[];    /* of commands that have rows */

/* A row of the options of commands that check their results when asked. */
#define BENCH_VERIFY_OPTION                                                                        \
  {                                                                                                \
    "verify", 0, POPT_ARG_NONE, &bench_given.verify, 0,                                            \
        "Check the results of all contenders after the timed runs", NULL                           \
  }

/* Returns 0, or non-zero after writing what is wrong to text. */
int bench_settings_check(char text[RGP_TEXT]);

/* Parts "2,4,8": growing numbers from least to most, at most `room` of them.
 * Returns how many there are, or -1 after writing what is wrong to why. */
int bench_numbers(const char *option, const char *text, int least, int most, int room, int out[],
                  char why[RGP_TEXT]);

/* Parts "native,auto": each word is one of names[0..n-1], closed by NULL, and
 * comes once at most. out[i] is the number of the i-th word. Returns how
 * many there are, or -1 after writing what is wrong to why. */
int bench_words(const char *option, const char *text, const char *const names[], int out[],
                char why[RGP_TEXT]);

/* Sizes of groups out of np ranks: those of the text, or without one 2, 4, ... and
 * all ranks. Returns how many, or -1 after writing what is wrong
 * to why. */
int bench_group_sizes(const char *text, int np, int room, int out[], char why[RGP_TEXT]);

/* How the i-th of n measurements is made: by the shared options, in its part of
 * the time that is left until the deadline. */
bench_plan bench_plan_for(int i, int n, int warmup, double deadline, rgp_progress *progress);

#endif
