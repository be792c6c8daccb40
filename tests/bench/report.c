/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "report.h"

#include <stdlib.h>

int bench_report_add(bench_report *r, int x, const char *contender, const bench_measured *m) {
  bench_row *row = realloc(r->row, (size_t)(r->rows + 1) * sizeof *row);
  if (!row)
    return 0;
  r->row = row;
  r->row[r->rows++] = (bench_row){x, contender, *m};
  return 1;
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

void bench_report_print(const bench_report *r) {
  char a[16], b[16], c[16], d[16], e[16], sent[48];
  printf("%s; time in us, the slowest rank's\n\n%7s  %-22s %9s  %-18s %-18s %5s %11s\n", r->title,
         r->x_name, "contender", "median", "  95 % interval", "    quartiles", "runs", "messages");
  for (int i = 0; i < r->rows; i++) {
    const bench_row *row = &r->row[i];
    const bench_stats *s = &row->measured.seconds;
    if (i == 0 || row->x != row[-1].x)
      printf("%s%7d", i ? "\n" : "", row->x);
    else
      printf("%7s", "");
    printf("  %-22s %9s %8s .. %-7s %8s .. %-7s %4d %11s\n", row->contender, micro(s->median, a),
           micro(s->low, b), micro(s->high, c), micro(s->q1, d), micro(s->q3, e), s->n,
           messages(r, &row->measured, sent));
  }
  if (r->note[0])
    printf("\n%s\n", r->note);
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
  return o;
}

json_t *bench_report_json(const bench_report *r) {
  json_t *all = json_pack("{ss}", "command", r->command), *results = json_array();
  if (r->facts)
    json_object_update(all, r->facts);
  for (int i = 0; i < r->rows; i++)
    json_array_append_new(results, row_json(r, &r->row[i]));
  json_object_set_new(all, "results", results);
  return all;
}

void bench_report_free(bench_report *r) {
  json_decref(r->facts);
  free(r->row);
  r->row = NULL;
  r->facts = NULL;
  r->rows = 0;
}
