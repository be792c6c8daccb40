/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Command lines, result files and progress of the programs. All ranks parse the same command line
 * and come to the same result, so nothing is communicated; rank 0 prints. */
#include "program.h"

#include <errno.h>
#include <regroup/version.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPT_HELP = 'h', OPT_VERSION = 'V' };

static const struct poptOption common[] = {
    {"help", 'h', POPT_ARG_NONE, NULL, OPT_HELP, "Show this help and end", NULL},
    {"version", 'V', POPT_ARG_NONE, NULL, OPT_VERSION, "Show the version and end", NULL},
    POPT_TABLEEND};

static void print_complaint(const rgp_program *program, int rank, const char *text) {
  if (rank == 0)
    fprintf(stderr, "%s: %s (try --help)\n", program->name, text);
}

/* Returns 1 to go on. 0: help or version has been printed (RGP_OK), or an option is wrong
 * (RGP_USAGE). */
static int parse_options(const rgp_program *program, poptContext ctx, int rank, int *status) {
  int opt;
  while ((opt = poptGetNextOpt(ctx)) >= 0) {
    if (opt == OPT_HELP && rank == 0) {
      poptPrintHelp(ctx, stdout, 0);
      printf("\n%s\n", program->summary);
    }
    if (opt == OPT_VERSION && rank == 0)
      printf("%s %s\n", program->name, RG_VERSION);
    if (opt == OPT_HELP || opt == OPT_VERSION) {
      *status = RGP_OK;
      return 0;
    }
  }
  if (opt == -1)
    return 1;
  char text[RGP_TEXT];
  snprintf(text, sizeof text, "%s: %s", poptBadOption(ctx, POPT_BADOPTION_NOALIAS),
           poptStrerror(opt));
  print_complaint(program, rank, text);
  *status = RGP_USAGE;
  return 0;
}

static int parse_words(const rgp_program *program, poptContext ctx, int rank, int *status) {
  static const char *const none[] = {NULL};
  const char **argv = poptGetArgs(ctx);
  int n = 0;
  char text[RGP_TEXT] = "";
  while (argv && argv[n])
    n++;
  if (n > program->max_arguments)
    snprintf(text, sizeof text, "%s: unexpected argument", argv[program->max_arguments]);
  else if (n < program->min_arguments)
    snprintf(text, sizeof text, "an argument is missing: %s", program->arguments);
  else if (program->check)
    program->check(argv ? argv : none, text);
  if (text[0]) {
    print_complaint(program, rank, text);
    *status = RGP_USAGE;
    return 0;
  }
  for (int i = 0; program->words && i < program->max_arguments; i++)
    program->words[i] = i < n ? strdup(argv[i]) : NULL;
  return 1;
}

int rgp_parse(const rgp_program *program, int argc, char **argv, int rank, int *status) {
  struct poptOption table[] = {
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)program->options, 0, "Options:", NULL},
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)common, 0, "Help:", NULL},
      POPT_TABLEEND};
  poptContext ctx = poptGetContext(program->name, argc, (const char **)(void *)argv, table, 0);
  poptSetOtherOptionHelp(ctx, program->arguments);
  int go = parse_options(program, ctx, rank, status) && parse_words(program, ctx, rank, status);
  poptFreeContext(ctx);
  fflush(stdout);
  return go;
}

int rgp_open(const rgp_program *program, const char *path, FILE **f) {
  *f = path ? fopen(path, "w") : NULL;
  if (*f || !path)
    return 1;
  fprintf(stderr, "%s: %s cannot be written: %s\n", program->name, path, strerror(errno));
  return 0;
}

json_t *rgp_read_json(const char *path, char text[RGP_TEXT]) {
  json_error_t error;
  json_t *value = json_load_file(path, 0, &error);
  if (!value && error.line > 0)
    snprintf(text, RGP_TEXT, "%.200s: line %d: %.160s", path, error.line, error.text);
  else if (!value) /* it was not opened */
    snprintf(text, RGP_TEXT, "%.300s", error.text);
  return value;
}

int rgp_write_json(const rgp_program *program, const char *path, FILE *f, json_t *value) {
  int good = 1;
  if (f) {
    good =
        json_dumpf(value, f, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', f) != EOF;
    if (fclose(f) != 0 || !good) {
      fprintf(stderr, "%s: %s could not be written: %s\n", program->name, path, strerror(errno));
      good = 0;
    }
  }
  json_decref(value);
  return good;
}

double rgp_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void rgp_progress_start(rgp_progress *progress, const char *what, int quiet) {
  *progress = (rgp_progress){.what = what, .start = rgp_now(), .active = !quiet && isatty(2)};
}

void rgp_progress_show(rgp_progress *progress, double done, const char *text) {
  double now = progress->active ? rgp_now() : 0;
  if (!progress->active || now - progress->drawn < 0.1)
    return;
  progress->drawn = now;
  char left[48] = "";
  if (done > 0.01)
    snprintf(left, sizeof left, ", %.1f s left", (now - progress->start) * (1 - done) / done);
  fprintf(stderr, "\r\033[K%s %3.0f %%%s%s%s", progress->what, 100 * done, text ? ", " : "",
          text ? text : "", left);
  fflush(stderr);
}

void rgp_progress_end(rgp_progress *progress) {
  if (progress->active && progress->drawn > 0)
    fputs("\r\033[K", stderr);
  progress->active = 0;
}
