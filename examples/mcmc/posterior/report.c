/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The result as a table, as JSON, and as files of draws and a plot. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "plot.h"

static double acceptance_of(const post_report_result *r) {
  return r->tried ? (double)r->accepted / (double)r->tried : 0;
}

void post_report_print(const post_options *o, const post_report_result *r) {
  const post_walker_setup *s = &o->setup;
  printf("%s by %s: %d ranks in groups of %d, %" PRId64 " walkers of %d chains, %" PRId64
         " draws of each\n\n",
         s->kind->name, post_options_sampler_name(s->sampler), r->ranks, o->group, s->walkers,
         POST_CHAINS, s->samples);
  printf("             mean (error)            truth    off        sd (error)        truth    off"
         "           ESS   R-hat\n");
  for (int q = 0; q < r->draws.quantities; q++) {
    const post_summary_line *l = &r->line[q];
    double ess = l->mean.ess < l->variance.ess ? l->mean.ess : l->variance.ess;
    double rhat = l->mean.rhat > l->variance.rhat ? l->mean.rhat : l->variance.rhat;
    printf("  %-7s %9.5f (%.5f) %12.6f %6.2f %9.5f (%.5f) %12.6f %6.2f %13.0f %7.4f\n", l->label,
           l->mean.mean, l->mean.mcse, l->truth.mean, l->mean_off, l->sd, l->sd_error, l->truth.sd,
           l->sd_off, ess, rhat);
  }
  printf("\n  time %.3f s, acceptance %.1f %%, draws' checksum %016" PRIx64 "\n", r->seconds,
         100 * acceptance_of(r), r->checksum);
  if (r->deaths > 0)
    printf(
        "  %d of %d ranks died, %.3f s lost from noticing to going on; the draws are those of an "
        "undisturbed run\n",
        r->deaths, r->ranks, r->lost);
  if (o->plot)
    printf("  plots in %s\n", o->plot);
}

static json_t *estimate_json(double value, double error, double truth, double off,
                             const post_estimate *e) {
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "value", value, "standard_error", error,
                   "truth", truth, "standard_errors_off", off, "ess", e->ess, "rhat", e->rhat);
}

static json_t *line_json(const post_summary_line *l) {
  return json_pack("{s:s, s:o, s:o}", "name", l->label, "mean",
                   estimate_json(l->mean.mean, l->mean.mcse, l->truth.mean, l->mean_off, &l->mean),
                   "sd", estimate_json(l->sd, l->sd_error, l->truth.sd, l->sd_off, &l->variance));
}

json_t *post_report_json(const post_options *o, const post_report_result *r) {
  const post_walker_setup *s = &o->setup;
  char checksum[17];
  json_t *quantities = json_array();
  for (int q = 0; q < r->draws.quantities; q++)
    json_array_append_new(quantities, line_json(&r->line[q]));
  snprintf(checksum, sizeof checksum, "%016" PRIx64, r->checksum);
  return json_pack("{s:s, s:s, s:i, s:i, s:I, s:i, s:I, s:I, s:I, s:i, s:I, s:i, s:f, s:f, s:s, "
                   "s:b, s:i, s:f, s:o}",
                   "model", s->kind->name, "sampler", post_options_sampler_name(s->sampler),
                   "ranks", r->ranks, "group", o->group, "walkers", (json_int_t)s->walkers,
                   "chains_of_a_walker", POST_CHAINS, "samples", (json_int_t)s->samples, "thin",
                   (json_int_t)s->thin, "tune", (json_int_t)s->tune, "unit", o->unit, "seed",
                   (json_int_t)s->seed, "scale", s->scale, "seconds", r->seconds, "acceptance",
                   acceptance_of(r), "checksum", checksum, "passed", r->missed == 0, "deaths",
                   r->deaths, "lost_seconds", r->lost, "quantities", quantities);
}

static int is_text(const char *path) {
  size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".csv") == 0;
}

int post_report_files(const post_options *o, const post_report_result *r, FILE *draws) {
  int good = 1;
  if (draws) {
    good = is_text(o->draws) ? post_draws_table_csv(&r->draws, o->setup.kind->labels, draws)
                             : post_draws_table_binary(&r->draws, draws);
    good = fclose(draws) == 0 && good;
    if (!good)
      fprintf(stderr, "regroup-mcmc: %s could not be written\n", o->draws);
  }
  char title[200];
  snprintf(title, sizeof title, "%s by %s: draws of four chains; all draws, true mean and sd",
           o->setup.kind->name, post_options_sampler_name(o->setup.sampler));
  if (o->plot && !post_plot(o->plot, title, &r->draws, r->line)) {
    fprintf(stderr, "regroup-mcmc: gnuplot could not draw %s\n", o->plot);
    good = 0;
  }
  return good;
}
