/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "plot.h"

#include <stdio.h>
#include <string.h>

#include "job.h"
#include "runtime/program/program.h"

/* Colours that are told apart by colour-blind eyes too (Okabe and Ito). */
static const char *const colours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
#define COLOURS (int)(sizeof colours / sizeof colours[0])

/* Rows of one operation on one number of ranks. */
typedef struct {
  const bench_row *row;
  int rows;
} panel;

static int same_name(const bench_row *a, const bench_row *b) {
  return strcmp(a->contender, b->contender) == 0;
}

/* Whether row i is its contender's first. */
static int is_first(const panel *p, int i) {
  for (int j = 0; j < i; j++)
    if (same_name(&p->row[j], &p->row[i]))
      return 0;
  return 1;
}

static int is_new_x(const panel *p, int i) {
  for (int j = 0; j < i; j++)
    if (p->row[j].x == p->row[i].x)
      return 0;
  return 1;
}

/* Where x is drawn: on a logarithmic axis no bytes are half a byte. */
static double place(int x) {
  return x > 0 ? x : 0.5;
}

static void write_ticks(FILE *f, const panel *p) {
  double least = place(p->row[0].x), most = least;
  fputs("set xtics (", f);
  for (int i = 0; i < p->rows; i++) {
    double at = place(p->row[i].x);
    if (is_new_x(p, i))
      fprintf(f, "%s'%d' %.9g", i ? "," : "", p->row[i].x, at);
    least = at < least ? at : least;
    most = at > most ? at : most;
  }
  fprintf(f, ")\nset xrange [%.9g:%.9g]\n", least / 1.3, most * 1.3);
}

static void write_axes(FILE *f, const bench_report *r, const char *path, int panels) {
  fprintf(f,
          "set terminal svg size 900,%d noenhanced background 'white' font 'sans-serif,14'\n"
          "set output ",
          560 * panels);
  rgp_gnuplot_quote(f, path);
  fputs("\nset xlabel ", f);
  rgp_gnuplot_quote(f, r->x_name);
  fputs("\nset ylabel 'time in µs: median and quartiles'\n"
        "set logscale xy\nset format y '%g'\nset grid back lc rgb '#dddddd'\n"
        "set key outside right center\n",
        f);
}

/* A block of data for the contender that row i is the first of. */
static void write_data(FILE *f, const panel *p, int i) {
  fprintf(f, "$data%d << end\n", i);
  for (int j = i; j < p->rows; j++) {
    const bench_stats *s = &p->row[j].measured.seconds;
    if (same_name(&p->row[i], &p->row[j]))
      fprintf(f, "%.9g %.9g %.9g %.9g\n", place(p->row[j].x), 1e6 * s->median, 1e6 * s->q1,
              1e6 * s->q3);
  }
  fputs("end\n", f);
}

static void write_panel(FILE *f, const panel *p, const char *title) {
  int line = 0;
  for (int i = 0; i < p->rows; i++)
    if (is_first(p, i))
      write_data(f, p, i);
  fputs("set title ", f);
  rgp_gnuplot_quote(f, title);
  fputs("\n", f);
  write_ticks(f, p);
  fputs("plot ", f);
  for (int i = 0; i < p->rows; i++) {
    if (!is_first(p, i))
      continue;
    fprintf(f, "%s$data%d with yerrorlines lw 2 pt %d ps 0.7 lc rgb '%s' title ", line ? ", " : "",
            i, 4 + line % 10, colours[line % COLOURS]);
    rgp_gnuplot_quote(f, p->row[i].contender);
    line++;
  }
  fputs("\n", f);
}

/* The rows of one place from the i-th on. */
static panel panel_at(const bench_report *r, int i) {
  panel p = {r->row + i, 1};
  while (i + p.rows < r->rows && bench_report_same_place(p.row, p.row + p.rows))
    p.rows++;
  return p;
}

static int count_panels(const bench_report *r) {
  int n = 0;
  for (int i = 0; i < r->rows; i += panel_at(r, i).rows)
    n++;
  return n;
}

/* One picture below the other. */
static void write_script(FILE *f, const bench_report *r, const char *path) {
  int panels = count_panels(r);
  char title[160], where[64];
  write_axes(f, r, path, panels);
  if (panels > 1)
    fprintf(f, "set multiplot layout %d,1\n", panels);
  for (int i = 0; i < r->rows;) {
    panel p = panel_at(r, i);
    bench_job_describe(p.row->ranks, where);
    snprintf(title, sizeof title, "%.80s%s", p.row->operation ? p.row->operation : "", where);
    write_panel(f, &p, panels > 1 ? title : r->title);
    i += p.rows;
  }
}

int bench_plot(const char *program, const char *path, const bench_report *r) {
  if (!path || !r->rows)
    return 1;
  FILE *f = popen("gnuplot", "w");
  if (f)
    write_script(f, r, path);
  if (!f || pclose(f) != 0) {
    fprintf(stderr, "%s: gnuplot could not draw %s\n", program, path);
    return 0;
  }
  return 1;
}
