/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

bench_settings bench_given = {.reps = 200, .time_limit = 60, .precision = 3};

const struct poptOption bench_shared_options[] = {
    {"reps", 'r', POPT_ARG_INT, &bench_given.reps, 0, "At most N repetitions of each (200)", "N"},
    {"time-limit", 't', POPT_ARG_DOUBLE, &bench_given.time_limit, 0,
     "About so many seconds for the whole run (60)", "SECONDS"},
    {"precision", 'p', POPT_ARG_DOUBLE, &bench_given.precision, 0,
     "Stop when all medians are known to so many per cent (3)", "P"},
    {"quiet", 'q', POPT_ARG_NONE, &bench_given.quiet, 0, "Show no progress", NULL},
    POPT_TABLEEND};

const struct poptOption bench_file_options[] = {
    {"json", 'j', POPT_ARG_STRING, &bench_given.json, 0, "Write the result to FILE", "FILE"},
    POPT_TABLEEND};

const struct poptOption bench_csv_options[] = {
    {"csv", 0, POPT_ARG_STRING, &bench_given.csv, 0, "Write the rows to FILE as a table", "FILE"},
    POPT_TABLEEND};

const struct poptOption bench_picture_options[] = {
    {"svg", 's', POPT_ARG_STRING, &bench_given.svg, 0, "Draw the result to FILE (gnuplot)", "FILE"},
    POPT_TABLEEND};

int bench_settings_check(char text[RGP_TEXT]) {
  const bench_settings *s = &bench_given;
  if (s->reps < 1 || s->reps > 1000000)
    return snprintf(text, RGP_TEXT, "--reps: %d is not from 1 to 1000000", s->reps);
  if (!(s->time_limit > 0 && s->time_limit <= 1e6))
    return snprintf(text, RGP_TEXT, "--time-limit: %g is not above 0 and up to 1e6 seconds",
                    s->time_limit);
  if (!(s->precision >= 0 && s->precision <= 100))
    return snprintf(text, RGP_TEXT, "--precision: %g is not from 0 to 100 per cent", s->precision);
  return 0;
}

int bench_numbers(const char *option, const char *text, int least, int most, int room, int out[],
                  char why[RGP_TEXT]) {
  for (int n = 0;; n++, text++) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || (*end && *end != ',') || *text == ' ') {
      snprintf(why, RGP_TEXT, "%s: '%s' is no list of numbers such as 2,4,8", option, text);
      return -1;
    }
    if (value < least || value > most) {
      snprintf(why, RGP_TEXT, "%s: %ld is not from %d to %d", option, value, least, most);
      return -1;
    }
    if (n == room) {
      snprintf(why, RGP_TEXT, "%s: more than %d numbers", option, room);
      return -1;
    }
    if (n > 0 && value <= out[n - 1]) {
      snprintf(why, RGP_TEXT, "%s: %ld after %d: the numbers must grow", option, value, out[n - 1]);
      return -1;
    }
    out[n] = (int)value;
    if (!*end)
      return n + 1;
    text = end;
  }
}

static int find_word(const char *word, size_t length, const char *const names[]) {
  for (int i = 0; names[i]; i++)
    if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0)
      return i;
  return -1;
}

static void list_words(char why[RGP_TEXT], const char *const names[]) {
  for (int i = 0; names[i]; i++) {
    size_t used = strlen(why);
    snprintf(why + used, RGP_TEXT - used, "%s%s", i ? ", " : "; there are: ", names[i]);
  }
}

int bench_words(const char *option, const char *text, const char *const names[], int out[],
                char why[RGP_TEXT]) {
  for (int n = 0;; n++) {
    size_t length = strcspn(text, ",");
    out[n] = find_word(text, length, names);
    if (out[n] < 0) {
      snprintf(why, RGP_TEXT, "%s: '%.*s' is not known", option, (int)(length < 100 ? length : 100),
               text);
      list_words(why, names);
      return -1;
    }
    for (int i = 0; i < n; i++)
      if (out[i] == out[n]) {
        snprintf(why, RGP_TEXT, "%s: %s is named twice", option, names[out[n]]);
        return -1;
      }
    if (!text[length])
      return n + 1;
    text += length + 1;
  }
}

int bench_group_sizes(const char *text, int np, int room, int out[], char why[RGP_TEXT]) {
  int n = 0;
  if (text)
    return bench_numbers("--sizes", text, 1, np, room, out, why);
  for (int g = 2; g < 2 * np; g *= 2)
    out[n++] = g < np ? g : np;
  return n;
}

bench_plan bench_plan_for(int i, int n, int warmup, double deadline, rgp_progress *progress) {
  double left = deadline - rgp_now();
  return (bench_plan){.warmup = warmup,
                      .reps = bench_given.reps,
                      .seconds = left > 0 ? left / (n - i) : 1e-3,
                      .precision = bench_given.precision / 100,
                      .progress = progress,
                      .done = (double)i / n,
                      .share = 1.0 / n};
}
