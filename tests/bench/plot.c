/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Colours that are told apart by colour-blind eyes too (Okabe and Ito). */
static const char *const colours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
#define COLOURS (int)(sizeof colours / sizeof colours[0])

static int in_path(const char *name) {
  char file[4096];
  const char *dir = getenv("PATH");
  for (; dir && *dir; dir += strcspn(dir, ":"), dir += *dir == ':') {
    snprintf(file, sizeof file, "%.*s/%s", (int)strcspn(dir, ":"), dir, name);
    if (access(file, X_OK) == 0)
      return 1;
  }
  return 0;
}

int bench_plot_possible(const char *program, const char *path) {
  FILE *f;
  if (!path)
    return 1;
  if (!in_path("gnuplot")) {
    fprintf(stderr,
            "%s: --svg needs gnuplot, which is not here; on Debian it comes with the package "
            "gnuplot-nox\n",
            program);
    return 0;
  }
  f = fopen(path, "a");
  if (!f) {
    fprintf(stderr, "%s: %s cannot be written: %s\n", program, path, strerror(errno));
    return 0;
  }
  fclose(f);
  return 1;
}

/* A text as gnuplot reads it between single quotes. */
static void quote(FILE *f, const char *text) {
  fputc('\'', f);
  for (; *text; text++)
    fputs(*text == '\'' ? "''" : (char[]){*text, 0}, f);
  fputc('\'', f);
}

static int same_name(const bench_row *a, const bench_row *b) {
  return strcmp(a->contender, b->contender) == 0;
}

static int is_first(const bench_report *r, int i) {
  for (int j = 0; j < i; j++)
    if (same_name(&r->row[j], &r->row[i]))
      return 0;
  return 1;
}

static void write_axes(FILE *f, const bench_report *r, const char *path) {
  fputs("set terminal svg size 900,560 noenhanced background 'white' font 'sans-serif,14'\n"
        "set output ",
        f);
  quote(f, path);
  fputs("\nset title ", f);
  quote(f, r->title);
  fputs("\nset xlabel ", f);
  quote(f, r->x_name);
  fputs("\nset ylabel 'time in µs: median and quartiles'\n"
        "set logscale xy\nset format y '%g'\nset grid back lc rgb '#dddddd'\n"
        "set key outside right center\nset xtics (",
        f);
  for (int i = 0, x = 0; i < r->rows; i++) {
    if (r->row[i].x != x)
      fprintf(f, "%s%d", i ? "," : "", r->row[i].x);
    x = r->row[i].x;
  }
  fprintf(f, ")\nset xrange [%.3g:%.3g]\n", r->row[0].x / 1.3, r->row[r->rows - 1].x * 1.3);
}

/* A block of data for the contender that row i is the first of. */
static void write_data(FILE *f, const bench_report *r, int i) {
  fprintf(f, "$data%d << end\n", i);
  for (int j = i; j < r->rows; j++) {
    const bench_stats *s = &r->row[j].measured.seconds;
    if (same_name(&r->row[i], &r->row[j]))
      fprintf(f, "%d %.9g %.9g %.9g\n", r->row[j].x, 1e6 * s->median, 1e6 * s->q1, 1e6 * s->q3);
  }
  fputs("end\n", f);
}

static void write_script(FILE *f, const bench_report *r, const char *path) {
  int line = 0;
  write_axes(f, r, path);
  for (int i = 0; i < r->rows; i++)
    if (is_first(r, i))
      write_data(f, r, i);
  fputs("plot ", f);
  for (int i = 0; i < r->rows; i++) {
    if (!is_first(r, i))
      continue;
    fprintf(f, "%s$data%d with yerrorlines lw 2 pt %d ps 0.7 lc rgb '%s' title ", line ? ", " : "",
            i, 4 + line % 10, colours[line % COLOURS]);
    quote(f, r->row[i].contender);
    line++;
  }
  fputs("\n", f);
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
