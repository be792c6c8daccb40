/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line by popt, and the checks of what it says. */
#include "options.h"

#include <limits.h>

#include "../common/survivors.h"

/* popt writes into these; post_options_read makes a post_options of them. */
static struct {
  char *model, *policy, *json, *kill, *checkpoint;
  long long group, walkers, samples, tune, unit, seed;
  int check, quiet;
} arg = {.group = 1, .walkers = 4, .samples = LLONG_MIN, .tune = 500, .unit = 50, .seed = 1};

static const post_model *model;
static rg_policy policy = {.size = sizeof policy};

static const struct poptOption table[] = {
    {"model", 0, POPT_ARG_STRING, &arg.model, 0, "The posterior: eight-schools or regression",
     "NAME"},
    {"group", 'g', POPT_ARG_LONGLONG, &arg.group, 0, "Ranks in a group; default 1", "N"},
    {"policy", 'p', POPT_ARG_STRING, &arg.policy, 0,
     "The policy: none, join-right, sync, most-work, share-out, release, with options as "
     "sync:i=16; default share-out",
     "NAME"},
    {"walkers", 'w', POPT_ARG_LONGLONG, &arg.walkers, 0,
     "Walkers, each of 8 chains, whatever the number of ranks; default 4", "N"},
    {"samples", 'n', POPT_ARG_LONGLONG, &arg.samples, 0,
     "Draws that are kept of a chain; default: enough for 10000 independent ones", "N"},
    {"tune", 0, POPT_ARG_LONGLONG, &arg.tune, 0,
     "Steps in which the sampler adapts itself and nothing is kept; default 500", "N"},
    {"unit", 'u', POPT_ARG_LONGLONG, &arg.unit, 0, "Steps in a unit of work; default 50", "N"},
    {"seed", 0, POPT_ARG_LONGLONG, &arg.seed, 0, "Seed of the chains; default 1", "N"},
    {"check", 0, POPT_ARG_NONE, &arg.check, 0,
     "End with status 1 unless each mean and sd has 10000 independent draws, R-hat up to 1.01, and "
     "the truth within 4 standard errors",
     NULL},
    {"json", 0, POPT_ARG_STRING, &arg.json, 0, "Write the result for programs", "FILE"},
    {"checkpoint", 0, POPT_ARG_STRING, &arg.checkpoint, 0,
     "On SIGUSR1 or SIGTERM, and before the job's time ends, save to FILE.0 or FILE.1 and end with "
     "status 99; a run that finds them continues",
     "FILE"},
    {"kill", 0, POPT_ARG_STRING, &arg.kill, 0,
     "Ranks that kill themselves, or three of them at random within a second",
     "RANK:SECONDS,RANK:merge,...|seed:N"},
    {"quiet", 'q', POPT_ARG_NONE, &arg.quiet, 0, "Print nothing but errors", NULL},
    POPT_TABLEEND};

/* The limits keep every number of draws and bytes far below 2^63. */
static const struct {
  const char *name;
  const long long *value;
  long long least, most;
} limits[] = {{"group", &arg.group, 1, INT_MAX},      {"walkers", &arg.walkers, 1, 1000000},
              {"samples", &arg.samples, 4, 10000000}, {"tune", &arg.tune, 8, 10000000},
              {"unit", &arg.unit, 1, INT_MAX},        {"seed", &arg.seed, 0, LLONG_MAX}};

static int check_options(const char *const words[], char text[RGP_TEXT]) {
  (void)words;
  model = arg.model ? post_model_find(arg.model) : NULL;
  if (!model)
    return snprintf(text, RGP_TEXT, "--model: must be eight-schools or regression");
  if (arg.samples == LLONG_MIN)
    arg.samples = model->samples;
  if (rg_policy_parse(arg.policy, &policy))
    return snprintf(text, RGP_TEXT, "--policy: %s", rg_error_detail());
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (*limits[i].value < limits[i].least || *limits[i].value > limits[i].most)
      return snprintf(text, RGP_TEXT, "--%s: must be a whole number from %lld to %lld",
                      limits[i].name, limits[i].least, limits[i].most);
  return 0;
}

const char common_name[] = "regroup-posterior";
const rgp_program post_options_program = {
    .name = common_name,
    .summary = "Samples a posterior with a known answer: walkers of eight chains "
               "each, their\n"
               "densities worked out by groups of ranks. The draws have the same bits "
               "on any\n"
               "number of ranks. Start it under mpiexec with any number of ranks.",
    .arguments = "--model NAME [OPTION...]",
    .options = table,
    .check = check_options};

int post_options_read(int argc, char **argv, int rank, post_options *options, int *status) {
  if (!rgp_parse(&post_options_program, argc, argv, rank, status))
    return 0;
  *options = (post_options){.setup = {.model = model,
                                      .seed = (uint64_t)arg.seed,
                                      .walkers = arg.walkers,
                                      .samples = arg.samples,
                                      .tune = arg.tune},
                            .group = (int)arg.group,
                            .unit = (int)arg.unit,
                            .policy = policy,
                            .check = arg.check,
                            .quiet = arg.quiet,
                            .json = arg.json,
                            .checkpoint = arg.checkpoint,
                            .kill = arg.kill};
  return 1;
}
