/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writes a script with the data for gnuplot and runs it. */
#include "plot.h"

#include <math.h>
#include <signal.h>

enum { ROW_HEIGHT = 130, SHOWN_CHAINS = 4, SHOWN_DRAWS = 200, BINS = 80 };
static const char *const colour[SHOWN_CHAINS] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7"};

/* An axis from five standard deviations below the true mean to five above. */
static void write_axis(FILE *f, char name, const post_model_moments *t) {
  fprintf(f, "set %crange [%g:%g]\nset %ctics nomirror (", name, t->mean - 5 * t->sd,
          t->mean + 5 * t->sd, name);
  for (int i = -3; i <= 3; i += 3)
    fprintf(f, "%s'%.3g' %g", i > -3 ? ", " : "", t->mean + i * t->sd, t->mean + i * t->sd);
  fprintf(f, ")\n");
}

/* Traces: the first draws of some chains, each of another walker. */
static void write_trace(FILE *f, const post_draws_table *t, int q, const post_summary_line *l) {
  int64_t shown = t->chains < SHOWN_CHAINS ? t->chains : SHOWN_CHAINS;
  int64_t draws = t->samples < SHOWN_DRAWS ? t->samples : SHOWN_DRAWS;
  fprintf(f, "set ylabel '%s'\nset xrange [0:%lld]\nset xtics auto\nunset arrow\n", l->label,
          (long long)draws);
  write_axis(f, 'y', &l->truth);
  for (int64_t i = 0; i < shown; i++) {
    const double *x = post_draws_table_chain(t, q, i * t->chains / shown);
    fprintf(f, "$trace%lld << end\n", (long long)i);
    for (int64_t d = 0; d < draws; d++)
      fprintf(f, "%lld %g\n", (long long)d, x[d]);
    fprintf(f, "end\n");
  }
  fprintf(f, "plot ");
  for (int64_t i = 0; i < shown; i++)
    fprintf(f, "%s$trace%lld with lines lw 0.7 lc rgb '%s'", i ? ", " : "", (long long)i,
            colour[i]);
  fprintf(f, "\n");
}

static void line_at(FILE *f, double x, const char *style) {
  fprintf(f, "set arrow from %g, graph 0 to %g, graph 1 nohead %s lc rgb '#333333' front\n", x, x,
          style);
}

/* The distribution of all draws. */
static void write_marginal(FILE *f, const post_draws_table *t, int q, const post_summary_line *l) {
  int64_t count[BINS] = {0}, draws = t->chains * t->samples;
  const double *x = post_draws_table_chain(t, q, 0);
  double low = l->truth.mean - 5 * l->truth.sd, width = 10 * l->truth.sd / BINS;
  for (int64_t i = 0; i < draws; i++) {
    double bin = floor((x[i] - low) / width);
    if (bin >= 0 && bin < BINS)
      count[(int)bin]++;
  }
  write_axis(f, 'x', &l->truth);
  fprintf(f, "unset ylabel\nset yrange [0:*]\nunset ytics\n");
  line_at(f, l->truth.mean, "lw 1.5");
  line_at(f, l->truth.mean - l->truth.sd, "dt 2");
  line_at(f, l->truth.mean + l->truth.sd, "dt 2");
  fprintf(f, "$marginal << end\n");
  for (int b = 0; b < BINS; b++)
    fprintf(f, "%g %g\n", low + (b + 0.5) * width, (double)count[b] / ((double)draws * width));
  fprintf(f, "end\nplot $marginal with boxes fs solid 0.5 noborder lc rgb '%s'\n", colour[0]);
}

/* A path in gnuplot's quotes. */
static void write_quoted(FILE *f, const char *text) {
  putc('\'', f);
  for (; *text; text++)
    fprintf(f, *text == '\'' ? "''" : "%c", *text);
  putc('\'', f);
}

int post_plot(const char *path, const char *title, const post_draws_table *t,
              const post_summary_line line[]) {
  void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* gnuplot may not be there */
  FILE *f = popen("gnuplot", "w");
  if (!f)
    return 0;
  fprintf(f,
          "set terminal svg size 900,%d font 'DejaVu Sans,11' background rgb 'white'\n"
          "set encoding utf8\nset output ",
          t->quantities * ROW_HEIGHT + 40);
  write_quoted(f, path);
  fprintf(f, "\nset multiplot layout %d,2 title ", t->quantities);
  write_quoted(f, title);
  fprintf(f, "\nunset key\nset tics nomirror\nset border 3\nset lmargin 10\nset rmargin 3\n");
  for (int q = 0; q < t->quantities; q++) {
    write_trace(f, t, q, &line[q]);
    write_marginal(f, t, q, &line[q]);
  }
  fprintf(f, "unset multiplot\n");
  int good = pclose(f) == 0;
  signal(SIGPIPE, before);
  return good;
}
