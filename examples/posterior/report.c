/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The result as a table and as JSON. */
#include "report.h"

#include <inttypes.h>

static double acceptance_of(const post_report *report) {
  return report->tried ? (double)report->accepted / (double)report->tried : 0;
}

static void print_line(const post_estimate_line *line) {
  double ess = line->mean.ess < line->variance.ess ? line->mean.ess : line->variance.ess;
  double rhat = line->mean.rhat > line->variance.rhat ? line->mean.rhat : line->variance.rhat;
  printf("  %-7s %9.5f (%.5f) %12.6f %6.2f %9.5f (%.5f) %12.6f %6.2f %13.0f "
         "%7.4f\n",
         line->label, line->mean.mean, line->mean.mcse, line->truth.mean, line->mean_off, line->sd,
         line->sd_error, line->truth.sd, line->sd_off, ess, rhat);
}

void post_report_print(const post_options *options, const post_report *report) {
  const post_walker_setup *setup = &options->setup;
  printf("%s: %d ranks in groups of %d, %" PRId64 " walkers of %d chains, %" PRId64
         " draws of each\n\n",
         setup->model->name, report->ranks, options->group, setup->walkers, POST_CHAINS,
         setup->samples);
  printf("             mean (error)            truth    off        sd (error)  "
         "      truth    off"
         "           ESS   R-hat\n");
  for (int q = 0; q < setup->model->parameters; q++)
    print_line(&report->line[q]);
  printf("\n  time %.3f s, acceptance %.1f %%, draws' checksum %016" PRIx64 "\n", report->seconds,
         100 * acceptance_of(report), report->checksum);
  if (report->deaths > 0)
    printf("  %d of %d ranks died, %.3f s lost from noticing to going on; the "
           "draws are those of an "
           "undisturbed run\n",
           report->deaths, report->ranks, report->lost);
}

static json_t *estimate_json(double value, double error, double truth, double off,
                             const post_estimate *estimate) {
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "value", value, "standard_error", error,
                   "truth", truth, "standard_errors_off", off, "ess", estimate->ess, "rhat",
                   estimate->rhat);
}

static json_t *line_json(const post_estimate_line *line) {
  return json_pack(
      "{s:s, s:o, s:o}", "name", line->label, "mean",
      estimate_json(line->mean.mean, line->mean.mcse, line->truth.mean, line->mean_off,
                    &line->mean),
      "sd", estimate_json(line->sd, line->sd_error, line->truth.sd, line->sd_off, &line->variance));
}

json_t *post_report_json(const post_options *options, const post_report *report) {
  const post_walker_setup *setup = &options->setup;
  char checksum[17];
  json_t *quantities = json_array();
  for (int q = 0; q < setup->model->parameters; q++)
    json_array_append_new(quantities, line_json(&report->line[q]));
  snprintf(checksum, sizeof checksum, "%016" PRIx64, report->checksum);
  return json_pack("{s:s, s:i, s:i, s:I, s:i, s:I, s:I, s:i, s:I, s:f, "
                   "s:f, s:s, s:b, s:i, "
                   "s:f, s:o}",
                   "model", setup->model->name, "ranks", report->ranks, "group", options->group,
                   "walkers", (json_int_t)setup->walkers, "chains_of_a_walker", POST_CHAINS,
                   "samples", (json_int_t)setup->samples, "tune", (json_int_t)setup->tune, "unit",
                   options->unit, "seed", (json_int_t)setup->seed, "seconds", report->seconds,
                   "acceptance", acceptance_of(report), "checksum", checksum, "passed",
                   report->missed == 0, "deaths", report->deaths, "lost_seconds", report->lost,
                   "quantities", quantities);
}
