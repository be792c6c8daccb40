/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws the figure with gnuplot, to which the data go as inline blocks. */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "runtime/program/program.h"

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

static void write_data(FILE *file, const sim_report_row rows[], int count, int i) {
  fprintf(file, "$data%d << end\n", i);
  for (int j = i; j < count; j++)
    if (same_line(&rows[i], &rows[j]))
      fprintf(file, "%lld %.9g %.9g %.9g\n", (long long)rows[j].ranks, rows[j].result.seconds,
              rows[j].result.bound, sim_report_published(rows[j].policy, rows[j].ranks));
  fputs("end\n", file);
}

static void write_lines(FILE *file, const sim_options *options, const sim_report_row rows[], int i,
                        int line) {
  const char *colour = colours[line % COLOURS];
  fprintf(file, "%s$data%d using 1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb '%s' title ",
          line ? ", " : "", i, colour);
  rgp_gnuplot_quote(file, rows[i].policy);
  if (options->patterns[1]) {
    fputs(".' '.", file);
    rgp_gnuplot_quote(file, rows[i].pattern);
  }
  if (options->published)
    fprintf(file,
            ", $data%d using 1:($4>0?$4:1/0) with points pt 6 ps 1.4 lw 2 lc rgb '%s' notitle", i,
            colour);
}

static void write_script(FILE *file, const sim_options *options, const sim_report_row rows[],
                         int count) {
  int line = 0;
  fputs("set terminal svg size 900,560 noenhanced background 'white' font 'sans-serif,14'\n"
        "set output ",
        file);
  rgp_gnuplot_quote(file, options->svg);
  fprintf(file,
          "\nset title 'Simulated%s'\nset xlabel 'ranks'\nset ylabel 'seconds'\nset logscale x 2\n"
          "set yrange [0:*]\nset grid back lc rgb '#dddddd'\nset key outside right center\n",
          options->published ? "; open points: published" : "");
  for (int i = 0; i < count; i++)
    if (is_first(rows, i))
      write_data(file, rows, count, i);
  fputs("plot ", file);
  for (int i = 0; i < count; i++)
    if (is_first(rows, i))
      write_lines(file, options, rows, i, line++);
  fputs(", $data0 using 1:3 with lines dt 2 lw 2 lc rgb '#333333' title 'bound'\n", file);
}

int sim_report_plot(const sim_options *options, const sim_report_row rows[], int count) {
  if (!options->svg || !count)
    return 1;
  FILE *file = popen("gnuplot", "w");
  if (file)
    write_script(file, options, rows, count);
  if (!file || pclose(file) != 0) {
    fprintf(stderr, "%s: gnuplot could not draw %s\n", sim_options_program.name, options->svg);
    return 0;
  }
  return 1;
}
