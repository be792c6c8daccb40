/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"

int bench_report_add(bench_report *r, int x, const char *contender, const bench_measured *m) {
  bench_row *row = realloc(r->row, (size_t)(r->rows + 1) * sizeof *row);
  if (!row)
    return 0;
  r->row = row;
  r->row[r->rows++] = (bench_row){.x = x, .contender = contender, .measured = *m};
  return 1;
}

void bench_report_place(bench_report *r, int i, const char *operation, int ranks) {
  for (; i < r->rows; i++) {
    r->row[i].operation = operation;
    r->row[i].ranks = ranks;
  }
}

int bench_report_same_place(const bench_row *a, const bench_row *b) {
  return a->ranks == b->ranks &&
         (a->operation == b->operation ||
          (a->operation && b->operation && strcmp(a->operation, b->operation) == 0));
}

int bench_report_mixed(const bench_report *r) {
  for (int i = 1; i < r->rows; i++)
    if (!bench_report_same_place(&r->row[0], &r->row[i]))
      return 1;
  return 0;
}

void bench_report_compare(bench_report *r, int i, double predicted, double floor) {
  r->row[i].predicted = predicted;
  r->row[i].floor = floor;
}

void bench_report_tell(bench_report *r, int i, json_t *more) {
  json_decref(r->row[i].more);
  r->row[i].more = more;
}

/* Microseconds with about four digits. */
static const char *micro(double seconds, char text[16]) {
  double us = 1e6 * seconds;
  snprintf(text, 16, "%.*f", us < 1 ? 4 : us < 10 ? 3 : us < 100 ? 2 : us < 1000 ? 1 : 0, us);
  return text;
}

static const char *messages(const bench_report *r, const bench_measured *m, char text[48]) {
  if (!r->counted)
    return "not counted";
  if (m->messages == m->messages_most)
    snprintf(text, 48, "%ld", m->messages);
  else
    snprintf(text, 48, "%ld..%ld", m->messages, m->messages_most);
  return text;
}

static void print_ratio(double seconds, double of) {
  if (of > 0)
    printf(" %8.2f", seconds / of);
  else
    printf(" %8s", "");
}

/* Whose time is told, and of what. */
static const char *timing_text(const bench_report *r) {
  return !r->timing                       ? "the slowest rank's"
         : strcmp(r->timing, "each") == 0 ? "each call alone, the mean of the ranks"
                                          : "calls back to back, the slowest rank's";
}

static void print_head(const bench_report *r) {
  printf("%s; time in us, %s\n\n%7s  %-22s %9s  %-18s %-18s %5s %11s", r->title, timing_text(r),
         r->x_name, "contender", "median", "  95 % interval", "    quartiles", "runs", "messages");
  if (r->predicts)
    printf(" %9s %8s", "model", "/ model");
  printf("%s%s\n", r->floor ? "  / floor" : "", r->rates ? "       MB/s" : "");
}

static void print_row(const bench_report *r, const bench_row *row) {
  char a[16], b[16], c[16], d[16], e[16], sent[48];
  const bench_stats *s = &row->measured.seconds;
  printf("  %-22s %9s %8s .. %-7s %8s .. %-7s %4d %11s", row->contender, micro(s->median, a),
         micro(s->low, b), micro(s->high, c), micro(s->q1, d), micro(s->q3, e), s->n,
         messages(r, &row->measured, sent));
  if (r->predicts) {
    printf(" %9s", row->predicted > 0 ? micro(row->predicted, a) : "");
    print_ratio(s->median, row->predicted);
  }
  if (r->floor)
    print_ratio(s->median, row->floor);
  if (r->rates && row->x > 0 && s->median > 0)
    printf(" %10.4g", 1e-6 * row->x / s->median);
  puts("");
}

/* A line above the first row of each operation and number of ranks. Returns whether
 * row i is such a one. */
static int print_place(const bench_report *r, int i) {
  const bench_row *row = &r->row[i];
  if (i > 0 && bench_report_same_place(row, row - 1))
    return 0;
  if (bench_report_mixed(r)) {
    char where[64];
    bench_job_describe(row->ranks ? row->ranks : r->ranks, where);
    printf("%s%s%s\n", i ? "\n" : "", row->operation ? row->operation : r->command, where);
  }
  return 1;
}

void bench_report_print(const bench_report *r) {
  if (r->print) {
    r->print(r);
    return;
  }
  print_head(r);
  for (int i = 0; i < r->rows; i++) {
    int first = print_place(r, i);
    if (first || r->row[i].x != r->row[i - 1].x)
      printf("%s%7d", first ? "" : "\n", r->row[i].x);
    else
      printf("%7s", "");
    print_row(r, &r->row[i]);
  }
  if (r->note[0])
    printf("\n%s\n", r->note);
}

/* A time and what the median is of it; both null where there is none. */
static void set_compared(json_t *o, const char *name, const char *ratio, double median, double of) {
  json_object_set_new(o, name, of > 0 ? json_real(of) : json_null());
  json_object_set_new(o, ratio, of > 0 ? json_real(median / of) : json_null());
}

static json_t *row_json(const bench_report *r, const bench_row *row) {
  const bench_measured *m = &row->measured;
  const bench_stats *s = &m->seconds;
  json_t *o = json_pack("{si ss sf sf sf sf sf sf sf si si si}", r->x_key, row->x, "contender",
                        row->contender, "median", s->median, "low", s->low, "high", s->high, "q1",
                        s->q1, "q3", s->q3, "min", s->min, "max", s->max, "runs", s->n, "outliers",
                        s->outliers, "late", m->late);
  json_object_set_new(o, "messages", r->counted ? json_integer(m->messages) : json_null());
  json_object_set_new(o, "messages_most",
                      r->counted ? json_integer(m->messages_most) : json_null());
  if (row->operation)
    json_object_set_new(o, "operation", json_string(row->operation));
  if (row->ranks)
    json_object_set_new(o, "ranks", json_integer(row->ranks));
  if (row->among)
    json_object_set_new(o, "among", json_string(row->among));
  if (r->rates && s->median > 0)
    json_object_set_new(o, "bytes_per_second", json_real(row->x / s->median));
  if (r->predicts)
    set_compared(o, "predicted", "over_predicted", s->median, row->predicted);
  if (r->floor)
    set_compared(o, "floor", "over_floor", s->median, row->floor);
  if (row->more)
    json_object_update(o, row->more);
  return o;
}

json_t *bench_report_json(const bench_report *r) {
  json_t *all = json_pack("{ss}", "command", r->command), *results = json_array();
  if (r->facts)
    json_object_update(all, r->facts);
  for (int i = 0; i < r->rows; i++)
    json_array_append_new(results, row_json(r, &r->row[i]));
  if (r->rows)
    json_object_set_new(all, "results", results);
  else
    json_decref(results);
  return all;
}

void bench_report_free(bench_report *r) {
  json_decref(r->facts);
  for (int i = 0; i < r->rows; i++)
    json_decref(r->row[i].more);
  free(r->row);
  r->row = NULL;
  r->facts = NULL;
  r->rows = 0;
}
