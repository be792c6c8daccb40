/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps the runs in order. from: where it comes from. */
static int add(bench_series *series, const bench_run *r, const char *from, char why[RGP_TEXT]) {
  int i = series->n;
  if (r->p < 1 || !(r->seconds > 0 && isfinite(r->seconds)) || !(r->work > 0 && isfinite(r->work)))
    return snprintf(why, RGP_TEXT, "%.200s: %d processes, %g seconds, work %g: all must be above 0",
                    from, r->p, r->seconds, r->work);
  for (int k = 0; k < series->n; k++)
    if (series->run[k].p == r->p)
      return snprintf(why, RGP_TEXT,
                      "%.200s: more than one time for %d processes; choose with --where", from,
                      r->p);
  if (series->n == BENCH_RUNS)
    return snprintf(why, RGP_TEXT, "%.200s: more than %d runs", from, BENCH_RUNS);
  for (; i > 0 && series->run[i - 1].p > r->p; i--)
    series->run[i] = series->run[i - 1];
  series->run[i] = *r;
  series->n++;
  return 0;
}

/* --- lists -------------------------------------------------------------------------- */

int bench_series_add_times(bench_series *series, const char *text, const bench_wanted *wanted,
                           char why[RGP_TEXT]) {
  for (;; text++) {
    bench_run r = {
        .computation = BENCH_UNKNOWN, .communication = BENCH_UNKNOWN, .idle = BENCH_UNKNOWN};
    char *end = NULL, *from = NULL;
    long p = strtol(text, &end, 10);
    int good = end != text && *end == ':' && p >= 1 && p <= 1 << 30;
    if (good) {
      r.p = (int)p;
      r.seconds = strtod(from = end + 1, &end);
      r.work = wanted->weak ? r.p : 1;
      good = end != from;
    }
    if (good && *end == ':') {
      r.work = strtod(from = end + 1, &end);
      good = end != from;
    }
    if (!good || (*end && *end != ','))
      return snprintf(why, RGP_TEXT, "--times: '%.100s' is no list such as 1:10.0,2:5.2", text);
    if (add(series, &r, "--times", why))
      return 1;
    if (!*end)
      return 0;
    text = end;
  }
}

/* --- files ------------------------------------------------------------------------------ */

/* What a row says, or else its file. */
static const json_t *find(const json_t *row, const json_t *file, const char *name) {
  const json_t *value = json_object_get(row, name);
  return value ? value : json_object_get(file, name);
}

static int has_value(const json_t *value, const char *text, size_t length) {
  char *end;
  double number = strtod(text, &end);
  if (json_is_number(value))
    return end == text + length && json_number_value(value) == number;
  return json_is_string(value) && strlen(json_string_value(value)) == length &&
         strncmp(json_string_value(value), text, length) == 0;
}

/* Whether all of "name=value,..." holds. */
static int matches(const json_t *row, const json_t *file, const char *where) {
  while (where && *where) {
    size_t name = strcspn(where, "="), all = strcspn(where, ",");
    char key[64] = "";
    if (name >= all || name >= sizeof key)
      return 0;
    memcpy(key, where, name);
    if (!has_value(find(row, file, key), where + name + 1, all - name - 1))
      return 0;
    where += all + (where[all] == ',');
  }
  return 1;
}

static double number_or(const json_t *value, double otherwise) {
  return json_is_number(value) ? json_number_value(value) : otherwise;
}

static int add_row(bench_series *series, const json_t *row, const json_t *file,
                   const bench_wanted *wanted, const char *path, char why[RGP_TEXT]) {
  const json_t *p = json_object_get(row, "processes"), *time;
  p = p ? p : json_object_get(file, "ranks");
  time = json_object_get(row, wanted->time ? wanted->time : "median");
  if (!time && !wanted->time)
    time = json_object_get(row, "seconds");
  if (!json_is_integer(p) || !json_is_number(time))
    return snprintf(why, RGP_TEXT, "%.200s: a row without %s", path,
                    json_is_integer(p) ? "its time: name it with --time"
                                       : "the number of processes");
  bench_run r = {.p = (int)json_integer_value(p), .seconds = json_number_value(time)};
  r.work =
      number_or(json_object_get(row, wanted->work ? wanted->work : "work"), wanted->weak ? r.p : 1);
  r.computation = number_or(json_object_get(row, "computation"), BENCH_UNKNOWN);
  r.communication = number_or(json_object_get(row, "communication"), BENCH_UNKNOWN);
  r.idle = number_or(json_object_get(row, "idle"), BENCH_UNKNOWN);
  return add(series, &r, path, why);
}

static int add_rows(bench_series *series, const json_t *file, const bench_wanted *wanted,
                    const char *path, char why[RGP_TEXT]) {
  const json_t *rows = json_object_get(file, "results");
  int found = 0;
  for (size_t i = 0; i < (json_is_array(rows) ? json_array_size(rows) : 1); i++) {
    const json_t *row = json_is_array(rows) ? json_array_get(rows, i) : file;
    if (!matches(row, file, wanted->where))
      continue;
    found++;
    if (add_row(series, row, file, wanted, path, why))
      return 1;
  }
  series->processors = (int)number_or(json_object_get(file, "processors"), series->processors);
  return found ? 0
               : snprintf(why, RGP_TEXT, "%.200s: no row%s%.200s", path,
                          wanted->where ? " with " : "", wanted->where ? wanted->where : "");
}

int bench_series_add_file(bench_series *series, const char *path, const bench_wanted *wanted,
                          char why[RGP_TEXT]) {
  json_t *file = rgp_read_json(path, why);
  if (!file)
    return 1;
  int wrong = json_is_object(file)
                  ? add_rows(series, file, wanted, path, why)
                  : snprintf(why, RGP_TEXT, "%.200s: no result of a program of Regroup", path);
  json_decref(file);
  return wrong;
}
