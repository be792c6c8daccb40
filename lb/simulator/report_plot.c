/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws the figure with gnuplot, to which the data go as inline blocks. */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "runtime/program/gnuplot.h"

/* Colours that colour-blind readers can tell apart, too (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                      "#d55e00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof colours / sizeof *colours };

static int same_line(const sim_report_row *a, const sim_report_row *b) {
  return !strcmp(a->policy, b->policy) && !strcmp(a->pattern, b->pattern);
}

static int is_first(const sim_report_row rows[], int i) {
  for (int j = 0; j < i; j++)
    if (same_line(&rows[j], &rows[i]))
      return 0;
  return 1;
}

static void write_data(FILE *f, const sim_report_row rows[], int count, int i) {
  fprintf(f, "$data%d << end\n", i);
  for (int j = i; j < count; j++)
    if (same_line(&rows[i], &rows[j]))
      fprintf(f, "%lld %.9g %.9g %.9g\n", (long long)rows[j].ranks, rows[j].result.seconds,
              rows[j].result.bound, sim_report_published(rows[j].policy, rows[j].ranks));
  fputs("end\n", f);
}

static void write_lines(FILE *f, const sim_options *o, const sim_report_row rows[], int i,
                        int line) {
  const char *colour = colours[line % COLOURS];
  fprintf(f, "%s$data%d using 1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb '%s' title ",
          line ? ", " : "", i, colour);
  rgp_gnuplot_quote(f, rows[i].policy);
  if (o->patterns[1]) {
    fputs(".' '.", f);
    rgp_gnuplot_quote(f, rows[i].pattern);
  }
  if (o->published)
    fprintf(f, ", $data%d using 1:($4>0?$4:1/0) with points pt 6 ps 1.4 lw 2 lc rgb '%s' notitle",
            i, colour);
}

static void write_script(FILE *f, const sim_options *o, const sim_report_row rows[], int count) {
  int line = 0;
  fputs("set terminal svg size 900,560 noenhanced background 'white' font 'sans-serif,14'\n"
        "set output ",
        f);
  rgp_gnuplot_quote(f, o->svg);
  fprintf(f,
          "\nset title 'Simulated%s'\nset xlabel 'ranks'\nset ylabel 'seconds'\nset logscale x 2\n"
          "set yrange [0:*]\nset grid back lc rgb '#dddddd'\nset key outside right center\n",
          o->published ? "; open points: published" : "");
  for (int i = 0; i < count; i++)
    if (is_first(rows, i))
      write_data(f, rows, count, i);
  fputs("plot ", f);
  for (int i = 0; i < count; i++)
    if (is_first(rows, i))
      write_lines(f, o, rows, i, line++);
  fputs(", $data0 using 1:3 with lines dt 2 lw 2 lc rgb '#333333' title 'bound'\n", f);
}

int sim_report_plot(const sim_options *o, const sim_report_row rows[], int count) {
  if (!o->svg || !count)
    return 1;
  FILE *f = popen("gnuplot", "w");
  if (f)
    write_script(f, o, rows, count);
  if (!f || pclose(f) != 0) {
    fprintf(stderr, "%s: gnuplot could not draw %s\n", sim_options_program.name, o->svg);
    return 0;
  }
  return 1;
}
