/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What Regroup's own programs share: the command line (popt), result files
 * (JSON by jansson), progress on a terminal. Not a part of libregroup. */
#ifndef RGP_PROGRAM_H
#define RGP_PROGRAM_H

#include <jansson.h>
#include <popt.h>
#include <stdio.h>

/* Exit statuses of all programs. */
enum { RGP_OK = 0, RGP_FAILED = 1, RGP_USAGE = 2 };

#define RGP_TEXT 512

typedef struct {
  const char *name;                 /* "regroup-mcmc" */
  const char *summary;              /* one sentence */
  const char *arguments;            /* "[OPTION...] create" */
  const struct poptOption *options; /* own options, closed by POPT_TABLEEND */
  int min_arguments, max_arguments; /* how many words that are no options */
  /* Checks the parsed values; on a bad one writes a line without newline to text and returns
   * non-zero. May be NULL. argv: the words, NULL at the end. */
  int (*check)(const char *const argv[], char text[RGP_TEXT]);
  char **words; /* where copies of the words go, max_arguments of them; NULL: nowhere */
} rgp_program;

/* Parses the command line, on every rank alike and without communicating; rank 0
 * alone prints: for --help and --version on standard output, for a wrong option
 * or value one line on standard error. Returns 1 to go on; 0 to end with the
 * exit status in *status. Call it after MPI_Init. */
int rgp_parse(const rgp_program *program, int argc, char **argv, int rank, int *status);

/* Opens a result file for writing before the work starts, so that a path that
 * cannot be written is refused at once. For the rank that writes. path NULL: *f
 * is NULL. Returns 1, or 0 after one line on standard error. */
int rgp_open(const rgp_program *program, const char *path, FILE **f);

/* Writes a value as JSON with a newline and closes f; NULL f does nothing.
 * Takes the reference to value. Returns 1, or 0 after one line on standard
 * error. */
int rgp_write_json(const rgp_program *program, const char *path, FILE *f, json_t *value);

/* Reads a result file. NULL: text says in one line what is wrong. */
json_t *rgp_read_json(const char *path, char text[RGP_TEXT]);

/* Progress: a line that is rewritten on standard error, only if that is a
 * terminal and quiet is 0. done: 0 to 1. text: a few words, may be NULL. Draws
 * at most ten times a second. Estimated time left is worked out from
 * rgp_progress_start. */
typedef struct {
  const char *what;
  double start, drawn;
  int active;
} rgp_progress;
void rgp_progress_start(rgp_progress *progress, const char *what, int quiet);
void rgp_progress_show(rgp_progress *progress, double done, const char *text);
void rgp_progress_end(rgp_progress *progress);

/* Seconds on a clock that never goes back (CLOCK_MONOTONIC). */
double rgp_now(void);

/* Whether gnuplot is installed and the file can be written; 1 if path is NULL. Returns 1, or 0
 * after one line on standard error. */
int rgp_gnuplot_possible(const char *program, const char *path);

/* Writes a text in single quotes, as gnuplot reads it. */
void rgp_gnuplot_quote(FILE *f, const char *text);

#endif
