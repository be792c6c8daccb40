/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-simulate: load balancing with the library's policies, on any number of ranks.
 * docs/balancing.md describes the model. */
#include <math.h>
#include <mpi.h>
#include <regroup/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report.h"
#include "runtime/program/program.h"

static int list_length(const char **list) {
  int n = 0;
  while (list[n])
    n++;
  return n;
}

/* Two walkers for each group. With --bound they have as many units as need so long. */
static int make_tempering(const sim_options *options, int64_t groups, int64_t total,
                          sim_setup *setup, sim_meetings *meetings) {
  enum { WALKERS = 2, UNITS = 200, EVERY = 10 };
  const double mean = 1.5; /* of a unit's cost */
  int64_t walkers = WALKERS * groups, units = UNITS;
  if (options->bound > 0)
    units = EVERY * (int64_t)llround((double)total / (double)walkers / mean / EVERY);
  RGI_TRY(sim_meetings_tempering(walkers, units > 0 ? units : EVERY, meetings));
  setup->meetings = meetings;
  setup->pattern = (rgi_pattern){.walkers = walkers,
                                 .units = calloc((size_t)walkers, sizeof(int64_t)),
                                 .total = walkers * sim_meetings_units(meetings, 0, 0)};
  for (int64_t w = 0; w < walkers && setup->pattern.units; w++)
    setup->pattern.units[w] = sim_meetings_units(meetings, w, 0);
  return setup->pattern.units ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "tempering: no memory");
}

static int simulate_one(const sim_options *options, const char *pattern, const char *policy,
                        int64_t ranks, sim_report_row *row) {
  sim_meetings meetings = {0};
  sim_setup setup = {.policy.size = sizeof setup.policy,
                     .ranks = ranks,
                     .least = options->least,
                     .most = options->most,
                     .nodes = options->nodes,
                     .late = options->late,
                     .unit = options->unit,
                     .machine = options->machine,
                     .view = options->view,
                     .seed = options->seed};
  int64_t total = (int64_t)llround(options->bound * (double)ranks / options->unit);
  setup.group = sim_group(&setup, options->group);
  int64_t groups = (ranks - 1) / setup.group + 1;
  int error = rg_policy_parse(policy, &setup.policy);
  *row = (sim_report_row){.pattern = pattern, .policy = policy, .ranks = ranks, .took = -rgp_now()};
  if (!error)
    error = strcmp(pattern, SIM_TEMPERING)
                ? rgi_pattern_make(pattern, groups, setup.group, total, &setup.pattern)
                : make_tempering(options, groups, total, &setup, &meetings);
  if (!error)
    error = sim_run(&setup, &row->result);
  rgi_pattern_free(&setup.pattern);
  sim_meetings_free(&meetings);
  row->took += rgp_now();
  if (error)
    fprintf(stderr, "%s: %s\n", sim_options_program.name, rg_error_detail());
  return error;
}

static int simulate_all(const sim_options *options, sim_report_row rows[], int count) {
  rgp_progress progress;
  int i = 0, error = 0;
  rgp_progress_start(&progress, "simulating", options->quiet);
  for (const char **pattern = options->patterns; *pattern; pattern++)
    for (const char **policy = options->policies; *policy; policy++)
      for (int n = 0; n < options->ranks_count && !error; n++) {
        rgp_progress_show(&progress, (double)i / count, *policy);
        error = simulate_one(options, *pattern, *policy, options->ranks[n], &rows[i++]);
      }
  rgp_progress_end(&progress);
  return error;
}

static int run_all(const sim_options *options) {
  FILE *json;
  int count =
          list_length(options->patterns) * list_length(options->policies) * options->ranks_count,
      good;
  if (!rgp_gnuplot_possible(sim_options_program.name, options->svg) ||
      !rgp_open(&sim_options_program, options->json, &json))
    return RGP_USAGE;
  sim_report_row *rows = calloc((size_t)count, sizeof *rows);
  good = rows && !simulate_all(options, rows, count);
  if (good) {
    if (!options->quiet)
      sim_report_print(options, rows, count);
    good = rgp_write_json(&sim_options_program, options->json, json,
                          sim_report_json(options, rows, count));
    good = sim_report_plot(options, rows, count) && good;
  }
  free(rows);
  return good ? RGP_OK : RGP_FAILED;
}

int main(int argc, char **argv) {
  sim_options options;
  int rank, status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (sim_options_read(argc, argv, rank, &options, &status)) {
    if (rank == 0)
      status = run_all(&options);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return status;
}
