/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-simulate: load balancing with the library's policies, on any number of ranks.
 * docs/balancing.md describes the model. */
#include <math.h>
#include <mpi.h>
#include <regroup/error.h>
#include <stdlib.h>

#include "report.h"
#include "runtime/program/gnuplot.h"

static int list_length(const char **list) {
  int n = 0;
  while (list[n])
    n++;
  return n;
}

static int simulate_one(const sim_options *o, const char *pattern, const char *policy,
                        int64_t ranks, sim_report_row *row) {
  sim_setup setup = {.policy.size = sizeof setup.policy,
                     .ranks = ranks,
                     .least = o->least,
                     .most = o->most,
                     .late = o->late,
                     .unit = o->unit,
                     .machine = o->machine,
                     .view = o->view,
                     .seed = o->seed};
  int64_t total = (int64_t)llround(o->bound * (double)ranks / o->unit);
  setup.group = sim_group(&setup, o->group);
  int error = rg_policy_parse(policy, &setup.policy);
  *row = (sim_report_row){.pattern = pattern, .policy = policy, .ranks = ranks, .took = -rgp_now()};
  if (!error)
    error = rgi_pattern_make(pattern, (ranks - 1) / setup.group + 1, setup.group, total,
                             &setup.pattern);
  if (!error)
    error = sim_run(&setup, &row->result);
  rgi_pattern_free(&setup.pattern);
  row->took += rgp_now();
  if (error)
    fprintf(stderr, "%s: %s\n", sim_options_program.name, rg_error_detail());
  return error;
}

static int simulate_all(const sim_options *o, sim_report_row rows[], int count) {
  rgp_progress progress;
  int i = 0, error = 0;
  rgp_progress_start(&progress, "simulating", o->quiet);
  for (const char **pattern = o->patterns; *pattern; pattern++)
    for (const char **policy = o->policies; *policy; policy++)
      for (int n = 0; n < o->ranks_count && !error; n++) {
        rgp_progress_show(&progress, (double)i / count, *policy);
        error = simulate_one(o, *pattern, *policy, o->ranks[n], &rows[i++]);
      }
  rgp_progress_end(&progress);
  return error;
}

static int run_all(const sim_options *o) {
  FILE *json;
  int count = list_length(o->patterns) * list_length(o->policies) * o->ranks_count, good;
  if (!rgp_gnuplot_possible(sim_options_program.name, o->svg) ||
      !rgp_open(&sim_options_program, o->json, &json))
    return RGP_USAGE;
  sim_report_row *rows = calloc((size_t)count, sizeof *rows);
  good = rows && !simulate_all(o, rows, count);
  if (good) {
    if (!o->quiet)
      sim_report_print(o, rows, count);
    good = rgp_write_json(&sim_options_program, o->json, json, sim_report_json(o, rows, count));
    good = sim_report_plot(o, rows, count) && good;
  }
  free(rows);
  return good ? RGP_OK : RGP_FAILED;
}

int main(int argc, char **argv) {
  sim_options o;
  int rank, status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (sim_options_read(argc, argv, rank, &o, &status)) {
    if (rank == 0)
      status = run_all(&o);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return status;
}
