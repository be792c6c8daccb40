/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cost model's values: a parser for the file, whose errors name the line, and a broadcast of
 * what the first process has read. All processes must use the same values, as they choose the
 * algorithms of collectives by them. */
#include "runtime/tuning.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/option_table.h"
#include "progress/mpi_error.h"

/* Measured on one machine: two nodes over its loopback, messages through the
 * arena, and shared memory. */
#define BUILT_IN                                                                                   \
  {                                                                                                \
    .between = {15e-6, 0.5e-9, 0.15e-9}, .inside = {0.5e-6, 0.12e-9, 0.15e-9},                     \
    .shared = {0.15e-6, 0.06e-9, 0.15e-9},                                                         \
  }

static rgi_tuning_model now = BUILT_IN;

#define VALUES 9
static const struct {
  const char *name;
  size_t at;
} values[VALUES] = {
    {"between.t_s", offsetof(rgi_tuning_model, between.ts)},
    {"between.t_w", offsetof(rgi_tuning_model, between.tw)},
    {"between.t_c", offsetof(rgi_tuning_model, between.tc)},
    {"inside.t_s", offsetof(rgi_tuning_model, inside.ts)},
    {"inside.t_w", offsetof(rgi_tuning_model, inside.tw)},
    {"inside.t_c", offsetof(rgi_tuning_model, inside.tc)},
    {"shared.t_s", offsetof(rgi_tuning_model, shared.ts)},
    {"shared.t_w", offsetof(rgi_tuning_model, shared.tw)},
    {"shared.t_c", offsetof(rgi_tuning_model, shared.tc)},
};

const rgi_tuning_model *rgi_tuning_now(void) {
  return &now;
}

/* --- a file ------------------------------------------------------------------------- */

#define LINE 256

typedef struct {
  const char *path;
  int line;
  int given[VALUES]; /* the line that gives the value; 0: none */
} tuning_reading;

static int reject_line(const tuning_reading *reading, const char *text, const char *why) {
  return rgi_error(RG_ERR_OPTION, "RG_TUNING=%.100s: line %d: \"%.40s\": %s", reading->path,
                   reading->line, text, why);
}

/* Tabs become blanks, other control characters '?': an error quotes the line, and the file may
 * contain anything. */
static void make_printable(char *text) {
  for (; *text; text++)
    if (!isprint((unsigned char)*text))
      *text = *text == '\t' ? ' ' : '?';
}

static int find_value(const char *name, size_t length) {
  for (int i = 0; i < VALUES; i++)
    if (strlen(values[i].name) == length && memcmp(values[i].name, name, length) == 0)
      return i;
  return -1;
}

/* "name = seconds" */
static int read_value(tuning_reading *reading, const char *text, rgi_tuning_model *model) {
  const char *at = text;
  char *end;
  size_t length = strcspn(text, " =");
  int i = find_value(text, length);
  if (i < 0)
    return reject_line(reading, text, "expected level.value = seconds, as in inside.t_s = 5e-07");
  if (reading->given[i])
    return reject_line(reading, text, "given before");
  at += length + strspn(text + length, " ");
  double seconds = *at == '=' ? rgi_c_locale_number(at + 1, &end) : 0;
  if (*at != '=' || end == at + 1 || end[strspn(end, " ")])
    return reject_line(reading, text, "expected one number after =");
  if (!(seconds > 0 && seconds < 1))
    return reject_line(reading, text, "expected seconds above 0 and below 1");
  reading->given[i] = reading->line;
  memcpy((char *)model + values[i].at, &seconds, sizeof seconds);
  return RG_SUCCESS;
}

/* One line with its newline. */
static int read_line(tuning_reading *reading, char *text, rgi_tuning_model *model) {
  size_t length = strlen(text);
  int whole = length > 0 && text[length - 1] == '\n';
  reading->line++;
  if (whole)
    text[--length] = 0;
  if (length > 0 && text[length - 1] == '\r')
    text[--length] = 0;
  make_printable(text);
  if (reading->line == 1 && (!whole || strcmp(text, RGI_TUNING_HEAD) != 0))
    return reject_line(reading, text,
                       "no tuning file: its first line is not \"" RGI_TUNING_HEAD "\"");
  if (!whole)
    return reject_line(reading, text, "the line has no end: the file is damaged");
  text += strspn(text, " ");
  return *text == '#' || !*text ? RG_SUCCESS : read_value(reading, text, model);
}

static int read_file(FILE *f, const char *path, rgi_tuning_model *model) {
  tuning_reading reading = {.path = path};
  rgi_tuning_model found = *model;
  char text[LINE];
  while (fgets(text, sizeof text, f))
    RGI_TRY(read_line(&reading, text, &found));
  if (ferror(f))
    return rgi_error(RG_ERR_OPTION, "RG_TUNING=%.100s: it cannot be read: %s", path,
                     strerror(errno));
  if (reading.line == 0)
    return rgi_error(RG_ERR_OPTION, "RG_TUNING=%.100s: line 1: the file is empty", path);
  *model = found;
  return RG_SUCCESS;
}

/* Puts the file's values over those of *model. RG_ERR_OPTION: the file cannot be read, is
 * something else, or holds a value that makes no sense; then *model is as it was. */
static int read_model(const char *path, rgi_tuning_model *model) {
  struct stat status;
  errno = 0;
  FILE *f = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "r") : NULL;
  if (!f)
    return rgi_error(RG_ERR_OPTION, "RG_TUNING=%.100s: it cannot be opened: %s", path,
                     errno ? strerror(errno) : "no regular file");
  int error = read_file(f, path, model);
  fclose(f);
  return error;
}

/* --- for all processes -------------------------------------------------------------------- */

int rgi_tuning_load(MPI_Comm comm) {
  struct {
    rgi_tuning_model model;
    int64_t word; /* of rank 0's error */
  } all = {.model = BUILT_IN};
  int rank, error = RG_SUCCESS;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    const char *path = rgi_option_text(RGI_OPT_TUNING);
    if (*path)
      error = read_model(path, &all.model);
    all.word = rgi_error_report_word(error, 0);
  }
  RGI_TRY_MPI(MPI_Bcast(&all, (int)sizeof all, MPI_BYTE, 0, comm));
  RGI_TRY(rgi_mpi_error_tell(comm, "rg_init", all.word, error));
  now = all.model;
  return RG_SUCCESS;
}
