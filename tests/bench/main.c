/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench: one sub-command for each thing that is measured. */
#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "base/processors.h"
#include "command.h"
#include "counters.h"
#include "csv.h"
#include "job.h"
#include "plot.h"
#include "preload.h"
#include "runtime/program/program.h"
#include "settings.h"

static const bench_command *const commands[] = {
    &bench_create,   &bench_groups,   &bench_coll,     &bench_fixed[0],    &bench_fixed[1],
    &bench_fixed[2], &bench_fixed[3], &bench_fixed[4], &bench_fixed[5],    &bench_fixed[6],
    &bench_fixed[7], &bench_fixed[8], &bench_fixed[9], &bench_fixed[10],   &bench_p2p,
    &bench_arrays,   &bench_rma,      &bench_tune,     &bench_scaling_run, &bench_analysis,
    &bench_compare};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const bench_command *find(const char *name) {
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
  return NULL;
}

/* --- the command line -------------------------------------------------------------- */

static int refuse_command(const char *const words[], char text[RGP_TEXT]) {
  int used = snprintf(text, RGP_TEXT, "'%.100s' is no command; there are:", words[0]);
  for (int i = 0; i < COMMANDS; i++)
    used += snprintf(text + used, RGP_TEXT - (size_t)used, " %s", commands[i]->name);
  return 1;
}

/* Without a command there is only help, the version, or something wrong. */
static int parse_no_command(int argc, char **argv, int rank) {
  static const struct poptOption none[] = {POPT_TABLEEND};
  char summary[4096];
  int status = RGP_USAGE;
  int used = snprintf(summary, sizeof summary,
                      "Measures the library against MPI's own calls. Run it under mpiexec. "
                      "Commands:\n");
  for (int i = 0; i < COMMANDS; i++)
    used += snprintf(summary + used, sizeof summary - (size_t)used, "  %-14s %s\n",
                     commands[i]->name, commands[i]->summary);
  snprintf(summary + used, sizeof summary - (size_t)used,
           "\nregroup-bench COMMAND --help shows a command's options. Collectives and p2p also "
           "between two groups:\n%s",
           rg_inter_help());
  rgp_program program = {.name = "regroup-bench",
                         .summary = summary,
                         .arguments = "COMMAND [OPTION...]",
                         .options = none,
                         .min_arguments = 1,
                         .max_arguments = 1,
                         .check = refuse_command};
  rgp_parse(&program, argc, argv, rank, &status);
  return status;
}

#define WORDS 1000

static const bench_command *chosen;

static int check(const char *const words[], char text[RGP_TEXT]) {
  if (bench_job_grouped() && !chosen->between)
    return snprintf(text, RGP_TEXT,
                    "%s: %s measures nothing between groups; coll, each collective and p2p do",
                    bench_job_option(), chosen->name);
  return bench_settings_check(text) || (chosen->check && chosen->check(text)) ||
         (chosen->read && chosen->read(words, text));
}

/* Taken out of the command line before: for --help alone. */
static const struct poptOption group_options[] = {
    {"split", 0, POPT_ARG_STRING, NULL, 0,
     "Between two groups: the highest n ranks are the second one; without n the odd ranks", "n"},
    {"spawn", 0, POPT_ARG_STRING, NULL, 0, "Between the ranks and n that they start", "n"},
    {"connect", 0, POPT_ARG_STRING, NULL, 0,
     "Between the ranks and a server of n that they connect to", "n"},
    POPT_TABLEEND};

static int parse_command(const char *name, int argc, char **argv, int rank, int *status) {
  static const struct poptOption none[] = {POPT_TABLEEND};
  const struct poptOption *shared = chosen->reads ? none : bench_shared_options;
  const struct poptOption *table = chosen->reads ? none : bench_csv_options;
  const struct poptOption *pictures = chosen->pictured ? bench_picture_options : none;
  const struct poptOption *groups = chosen->between ? group_options : none;
  struct poptOption options[] = {
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)chosen->options, 0, NULL, NULL},
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)bench_file_options, 0, NULL, NULL},
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)table, 0, NULL, NULL},
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)shared, 0, NULL, NULL},
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)pictures, 0, NULL, NULL},
      {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)groups, 0, NULL, NULL},
      POPT_TABLEEND};
  rgp_program program = {.name = name,
                         .summary = chosen->summary,
                         .arguments = chosen->arguments ? chosen->arguments : "[OPTION...]",
                         .options = options,
                         .max_arguments = chosen->read ? WORDS : 0,
                         .check = check};
  return rgp_parse(&program, argc, argv, rank, status);
}

/* --- one run -------------------------------------------------------------------------- */

static json_t *common_facts(int ranks) {
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, polite = 0;
  rgi_processors mine;
  MPI_Get_library_version(mpi, &length);
  mpi[strcspn(mpi, "\n")] = 0;
  for (char *c = mpi; *c; c++)
    *c = *c == '\t' ? ' ' : *c;
  rg_polite_active(&polite);
  return json_pack("{ss si si ss sb}", "version", RG_VERSION, "ranks", ranks, "processors",
                   rgi_processors_mine(&mine), "mpi", mpi, "polite", polite);
}

static void print_common(const json_t *facts) {
  printf("regroup-bench %s: %lld ranks, %lld processors, %s, %s waiting\n",
         json_string_value(json_object_get(facts, "version")),
         (long long)json_integer_value(json_object_get(facts, "ranks")),
         (long long)json_integer_value(json_object_get(facts, "processors")),
         json_string_value(json_object_get(facts, "mpi")),
         json_is_true(json_object_get(facts, "polite")) ? "polite" : "plain");
}

static void close_file(FILE *f) {
  if (f)
    fclose(f);
}

/* Collective. Rank 0 keeps the report for the plot. */
static int measure(const char *name, int rank, bench_report *report) {
  const rgp_program program = {.name = name};
  rgp_progress progress;
  FILE *json = NULL, *csv = NULL;
  int good = 1;
  if (rank == 0)
    good = rgp_gnuplot_possible(name, bench_given.svg) &&
           rgp_open(&program, bench_given.json, &json) && rgp_open(&program, bench_given.csv, &csv);
  MPI_Bcast(&good, 1, MPI_INT, 0, bench_all.comm);
  if (!good)
    return RGP_USAGE;
  report->ranks = bench_all.ranks;
  report->command = chosen->name;
  report->counted = !chosen->reads && bench_messages_counted(bench_all.comm);
  report->facts =
      chosen->reads ? json_pack("{ss}", "version", RG_VERSION) : common_facts(report->ranks);
  bench_job_tell(report->facts);
  rgp_progress_start(&progress, name, bench_given.quiet || rank != 0);
  good = chosen->run(report, &progress);
  rgp_progress_end(&progress);
  if (rank == 0 && good) {
    if (!chosen->reads)
      print_common(report->facts);
    bench_report_print(report);
    good = rgp_write_json(&program, bench_given.json, json, bench_report_json(report)) &&
           bench_write_csv(name, bench_given.csv, csv, report) && !report->failed;
  } else {
    close_file(json);
    close_file(csv);
  }
  return good ? RGP_OK : RGP_FAILED;
}

/* In a job of its own, or after it has been cut into two groups. */
static int measure_job(const char *name, bench_report *report) {
  int part, status = RGP_USAGE;
  if (bench_job_start(name, &part))
    status = part ? measure(name, bench_all.rank, report) : RGP_OK;
  bench_job_end();
  return status;
}

static int run_command(int argc, char **argv, bench_report *report) {
  char name[64], *command = argv[1];
  int status = RGP_OK;
  snprintf(name, sizeof name, "regroup-bench %s", chosen->name);
  argv[1] = name; /* what the usage line shows */
  int go_on = parse_command(name, argc - 1, argv + 1, bench_all.rank, &status);
  argv[1] = command; /* what processes that are started get */
  if (!go_on)
    return status;
  return chosen->reads ? measure(name, bench_all.rank, report) : measure_job(name, report);
}

int main(int argc, char **argv) {
  bench_report report = {0};
  int status = RGP_USAGE;
  chosen = argc > 1 ? find(argv[1]) : NULL;
  if (chosen && chosen->preloads)
    bench_preload(argv);
  MPI_Init(&argc, &argv);
  if (bench_job_parse(&argc, argv)) {
    chosen = argc > 1 ? find(argv[1]) : NULL;
    status =
        chosen ? run_command(argc, argv, &report) : parse_no_command(argc, argv, bench_all.rank);
  }
  MPI_Finalize();
  if (bench_all.rank == 0 && status == RGP_OK &&
      !bench_plot("regroup-bench", bench_given.svg, &report))
    status = RGP_FAILED; /* gnuplot is started after MPI, which forbids forking */
  bench_report_free(&report);
  return status;
}
