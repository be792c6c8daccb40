/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "csv.h"

#include <errno.h>
#include <string.h>

#include "job.h"

/* A text, between quotes where it has to be. */
static void put_text(FILE *f, const char *text) {
  if (!text[strcspn(text, ",\"\n")]) {
    fputs(text, f);
    return;
  }
  fputc('"', f);
  for (; *text; text++)
    fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, f);
  fputc('"', f);
}

/* Empty where it is not known. */
static void put_time(FILE *f, double seconds) {
  if (seconds > 0)
    fprintf(f, ",%.9g", seconds);
  else
    fputc(',', f);
}

/* Of two groups: how they were made, their sizes, and which of their communicators the row is
 * about. */
static void put_groups(FILE *f, const bench_row *row) {
  const rg_inter_view *v = &bench_all.view;
  if (row->among)
    fprintf(f, ",%s,%d,%d,%s", rg_inter_kind_name(v->kind), v->initiator_size, v->responder_size,
            row->among);
  else
    fputs(",,,,", f);
}

static void put_row(FILE *f, const bench_report *report, const bench_row *row) {
  const bench_measured *m = &row->measured;
  const bench_stats *s = &m->seconds;
  fprintf(f, "%s,%s,%d,%d,", report->command, row->operation ? row->operation : "",
          row->ranks ? row->ranks : report->ranks, row->x);
  put_text(f, row->contender);
  fprintf(f, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d,%d,%d", s->median, s->low, s->high, s->q1,
          s->q3, s->min, s->max, s->n, s->outliers, m->late);
  if (report->counted)
    fprintf(f, ",%ld,%ld", m->messages, m->messages_most);
  else
    fputs(",,", f);
  put_time(f, row->predicted);
  put_time(f, row->floor);
  put_groups(f, row);
  fprintf(f, ",%s", report->timing ? report->timing : "");
  fputc('\n', f);
}

int bench_write_csv(const char *program, const char *path, FILE *f, const bench_report *report) {
  if (!f)
    return 1;
  fprintf(f,
          "command,operation,ranks,%s,contender,median,low,high,q1,q3,min,max,runs,outliers,"
          "late,messages,messages_most,predicted,floor,inter,initiators,responders,among,timing\n",
          report->x_key);
  for (int i = 0; i < report->rows; i++)
    put_row(f, report, &report->row[i]);
  int good = !ferror(f);
  if (fclose(f) == 0 && good)
    return 1;
  fprintf(stderr, "%s: %s could not be written: %s\n", program, path, strerror(errno));
  return 0;
}
