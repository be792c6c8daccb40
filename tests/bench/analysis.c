/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench report: what the times of a scaling run say. Measures nothing. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#include "command.h"
#include "series.h"
#include "settings.h"

static struct {
  const char *times;
  double sequential;
  bench_wanted wanted;
} given;

static const struct poptOption options[] = {
    {"times", 0, POPT_ARG_STRING, &given.times, 0,
     "Runs as processes:seconds or processes:seconds:work, as in 1:10.0,2:5.2,4:2.9", "LIST"},
    {"where", 'w', POPT_ARG_STRING, &given.wanted.where, 0,
     "Which rows of the files: contender=auto,bytes=8", "NAME=VALUE,..."},
    {"time", 0, POPT_ARG_STRING, &given.wanted.time, 0, "Where a row has its seconds (median)",
     "NAME"},
    {"work", 0, POPT_ARG_STRING, &given.wanted.work, 0,
     "Where a row has the amount of its work (work)", "NAME"},
    {"weak", 0, POPT_ARG_NONE, &given.wanted.weak, 0,
     "The work grows with the processes, where nothing is said of it", NULL},
    {"sequential", 0, POPT_ARG_DOUBLE, &given.sequential, 0,
     "Time of the best sequential program for work 1 (that on one process)", "SECONDS"},
    POPT_TABLEEND};

static bench_series series;
static bench_measures measures[BENCH_RUNS];
static bench_scaling scaling;

static int read_all(const char *const words[], char text[RGP_TEXT]) {
  if (!(given.sequential >= 0 && isfinite(given.sequential)))
    return snprintf(text, RGP_TEXT, "--sequential: %g is not above 0", given.sequential);
  if (given.times && bench_series_add_times(&series, given.times, &given.wanted, text))
    return 1;
  for (int i = 0; words[i]; i++)
    if (bench_series_add_file(&series, words[i], &given.wanted, text))
      return 1;
  if (series.n < 2)
    return snprintf(text, RGP_TEXT, "%s: runs on two numbers of processes are needed at least",
                    series.n ? "one run" : "no run; give files or --times");
  return 0;
}

/* --- for people ---------------------------------------------------------------------- */

static void print_number(int width, double x, int known) {
  if (known)
    printf(" %*.4g", width, x);
  else
    printf(" %*s", width, "-");
}

static int split_known(void) {
  for (int i = 0; i < series.n; i++)
    if (series.run[i].computation >= 0)
      return 1;
  return 0;
}

static void print_run(const bench_run *r, const bench_measures *m, int split) {
  printf("%9d", r->p);
  print_number(10, r->seconds, 1);
  if (!scaling.strong)
    print_number(8, r->work, 1);
  printf(" %8.3f %8.1f %%", m->speedup, 100 * m->efficiency);
  print_number(10, m->cost, 1);
  print_number(11, m->overhead, 1);
  if (split) {
    print_number(13, m->communication, r->communication >= 0);
    print_number(10, m->idle, r->idle >= 0);
    print_number(10, m->extra, r->computation >= 0);
    print_number(11, m->granularity, m->granularity >= 0);
  }
  print_number(10, m->karp_flatt, r->p > 1);
  puts("");
}

static void print_law(const char *name, const bench_law *l) {
  printf("%s: serial fraction %.4g, residual %.2g %%\n", name, l->f, 100 * l->residual);
}

/* Lines beginning with "warning:" or "note:"; also for the JSON file. */
static int remark(int i, char text[RGP_TEXT]) {
  if (i < series.n) {
    const bench_run *r = &series.run[i];
    if (!measures[i].super_linear)
      return 0;
    return snprintf(text, RGP_TEXT,
                    "warning: super-linear speedup on %d processes: %.4g > %d; the sequential "
                    "program may not be the best one, or the memory of several processors helps",
                    r->p, measures[i].speedup, r->p);
  }
  if (i == series.n && scaling.estimated)
    return snprintf(text, RGP_TEXT,
                    "note: no run on one process: the one on %d is taken for perfectly parallel",
                    series.run[0].p);
  if (i == series.n + 1 && series.processors > 0 && series.run[series.n - 1].p > series.processors)
    return snprintf(text, RGP_TEXT,
                    "note: there are %d processors: more processes cannot compute faster",
                    series.processors);
  return 0;
}
enum { OTHER_REMARKS = 2 };

static void print(const bench_report *report) {
  int split = split_known();
  char text[RGP_TEXT];
  printf("%s; times in s, overheads in processor-seconds\n\n%9s %10s", report->title, "processes",
         "time");
  if (!scaling.strong)
    printf(" %8s", "work");
  printf(" %8s %10s %10s %11s", "speedup", "efficiency", "cost", "overhead");
  if (split)
    printf(" %13s %10s %10s %11s", "communication", "idle", "extra work", "granularity");
  printf(" %10s\n", "Karp-Flatt");
  for (int i = 0; i < series.n; i++)
    print_run(&series.run[i], &measures[i], split);
  puts("");
  print_law("Amdahl's law (the work stays)", &scaling.amdahl);
  print_law("Gustafson's law (the work grows)", &scaling.gustafson);
  printf("cost: for the same work it grows as p^%.3f: %s over these numbers of processes\n",
         scaling.growth, scaling.cost_optimal ? "cost-optimal" : "not cost-optimal");
  for (int i = 0; i < series.n + OTHER_REMARKS; i++)
    if (remark(i, text))
      puts(text);
}

/* --- for programs ------------------------------------------------------------------------- */

static json_t *known(double x, int is_known) {
  return is_known && isfinite(x) ? json_real(x) : json_null();
}

static json_t *run_json(const bench_run *r, const bench_measures *m) {
  int split = r->computation >= 0 && r->communication >= 0 && r->idle >= 0;
  return json_pack("{si sf sf sf sf sf so s{sf so so so so} so sb}", "processes", r->p, "seconds",
                   r->seconds, "work", r->work, "speedup", m->speedup, "efficiency", m->efficiency,
                   "cost", m->cost, "granularity", known(m->granularity, m->granularity >= 0),
                   "overhead", "total", m->overhead, "communication",
                   known(m->communication, r->communication >= 0), "idle",
                   known(m->idle, r->idle >= 0), "extra", known(m->extra, r->computation >= 0),
                   "rest", known(m->rest, split), "karp_flatt", known(m->karp_flatt, r->p > 1),
                   "super_linear", m->super_linear);
}

static void tell(json_t *facts) {
  json_t *points = json_array(), *remarks = json_array();
  char text[RGP_TEXT];
  for (int i = 0; i < series.n; i++)
    json_array_append_new(points, run_json(&series.run[i], &measures[i]));
  for (int i = 0; i < series.n + OTHER_REMARKS; i++)
    if (remark(i, text))
      json_array_append_new(remarks, json_string(text));
  json_t *found = json_pack(
      "{ss sf s{sf sf} s{sf sf} sf sb so so}", "scaling", scaling.strong ? "strong" : "weak",
      "sequential_seconds", scaling.sequential, "amdahl", "serial_fraction", scaling.amdahl.f,
      "residual", scaling.amdahl.residual, "gustafson", "serial_fraction", scaling.gustafson.f,
      "residual", scaling.gustafson.residual, "cost_growth", scaling.growth, "cost_optimal",
      scaling.cost_optimal, "runs", points, "remarks", remarks);
  json_object_update(facts, found);
  json_decref(found);
}

static int run(bench_report *report, rgp_progress *progress) {
  (void)progress;
  bench_speedup(series.n, series.run, given.sequential, measures, &scaling);
  snprintf(report->title, sizeof report->title, "%s scaling from %d to %d processes",
           scaling.strong ? "Strong" : "Weak", series.run[0].p, series.run[series.n - 1].p);
  report->print = print;
  tell(report->facts);
  return 1;
}

const bench_command bench_analysis = {.name = "report",
                                      .summary = "Speedup, efficiency, cost, overhead and the laws "
                                                 "of Amdahl and Gustafson for a scaling run.",
                                      .options = options,
                                      .reads = 1,
                                      .arguments = "[OPTION...] [FILE.json...]",
                                      .read = read_all,
                                      .run = run};
