/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line by popt, and the checks of what it says. */
#include "options.h"

#include <limits.h>
#include <string.h>

#define DEFAULT LLONG_MIN /* not given */

/* popt writes into these; post_options_read makes a post_options of them. */
static struct {
  char *model, *sampler, *policy, *draws, *plot, *json, *kill, *checkpoint;
  long long group, walkers, samples, thin, tune, unit, scale, seed;
  int check, quiet;
} arg = {.group = 1,
         .walkers = 4,
         .samples = DEFAULT,
         .thin = DEFAULT,
         .tune = DEFAULT,
         .unit = 50,
         .scale = 4,
         .seed = 1};

static rg_policy policy = {.size = sizeof policy};

static const struct poptOption table[] = {
    {"model", 0, POPT_ARG_STRING, &arg.model, 0,
     "The posterior: poisson, eight-schools or regression", "NAME"},
    {"sampler", 0, POPT_ARG_STRING, &arg.sampler, 0,
     "hmc (Hamiltonian, with gradients) or metropolis (a random walk); default hmc", "NAME"},
    {"group", 'g', POPT_ARG_LONGLONG, &arg.group, 0, "Ranks in a group; default 1", "N"},
    {"policy", 'p', POPT_ARG_STRING, &arg.policy, 0,
     "The policy: none, join-right, sync, most-work, share-out, release, with options as "
     "sync:i=16; default share-out",
     "NAME"},
    {"walkers", 'w', POPT_ARG_LONGLONG, &arg.walkers, 0,
     "Walkers, each of 8 chains, whatever the number of ranks; default 4", "N"},
    {"samples", 'n', POPT_ARG_LONGLONG, &arg.samples, 0,
     "Draws that are kept of a chain; default: so many that there are 10000 independent ones", "N"},
    {"thin", 0, POPT_ARG_LONGLONG, &arg.thin, 0,
     "Steps for each draw that is kept; default 1, metropolis 50", "N"},
    {"tune", 0, POPT_ARG_LONGLONG, &arg.tune, 0,
     "Steps at the beginning in which the sampler adapts itself and nothing is kept; default 500, "
     "metropolis 5000",
     "N"},
    {"unit", 'u', POPT_ARG_LONGLONG, &arg.unit, 0, "Steps in a unit of work; default 50", "N"},
    {"scale", 0, POPT_ARG_LONGLONG, &arg.scale, 0,
     "poisson: walkers have grids of 16, 32, 64 and 128 times N cells; default 4", "N"},
    {"seed", 0, POPT_ARG_LONGLONG, &arg.seed, 0, "Seed of the chains; default 1", "N"},
    {"check", 0, POPT_ARG_NONE, &arg.check, 0,
     "End with status 1 unless every mean and sd is known to 1 % of its sd (10000 independent "
     "draws), R-hat is at most 1.01, and the truth is within 4 standard errors",
     NULL},
    {"draws", 0, POPT_ARG_STRING, &arg.draws, 0,
     "Write all draws: text if FILE ends with .csv, "
     "else doubles",
     "FILE"},
    {"plot", 0, POPT_ARG_STRING, &arg.plot, 0, "Draw traces and marginal distributions (gnuplot)",
     "FILE.svg"},
    {"json", 0, POPT_ARG_STRING, &arg.json, 0, "Write the result for programs", "FILE"},
    {"checkpoint", 0, POPT_ARG_STRING, &arg.checkpoint, 0,
     "On SIGUSR1 or SIGTERM, and before the job's time ends, save to FILE.0 or FILE.1 and end with "
     "status 99; a run that finds them continues",
     "FILE"},
    {"kill", 0, POPT_ARG_STRING, &arg.kill, 0,
     "Ranks that kill themselves: RANK:SECONDS,RANK:merge,..., or seed:N for three of them within "
     "a second",
     "RANKS"},
    {"quiet", 'q', POPT_ARG_NONE, &arg.quiet, 0, "Print nothing but errors", NULL},
    POPT_TABLEEND};

static const char *const samplers[] = {[POST_HMC] = "hmc", [POST_METROPOLIS] = "metropolis"};

const char *post_options_sampler_name(post_walker_sampler sampler) {
  return samplers[sampler];
}

static int sampler_of(const char *name) {
  for (int i = 0; name && i < 2; i++)
    if (strcmp(name, samplers[i]) == 0)
      return i;
  return name ? -1 : POST_HMC;
}

static int bad_option(char text[RGP_TEXT], const char *option, const char *wanted) {
  snprintf(text, RGP_TEXT, "--%s: must be %s", option, wanted);
  return 1;
}

static int is_outside(long long value, long long least, long long most, long long unset) {
  return value != unset && (value < least || value > most);
}

/* The limits keep every number of draws and bytes far below 2^63. */
static int check_options(const char *const words[], char text[RGP_TEXT]) {
  (void)words;
  if (!arg.model || !post_model_find(arg.model))
    return bad_option(text, "model", "poisson, eight-schools or regression");
  if (sampler_of(arg.sampler) < 0)
    return bad_option(text, "sampler", "hmc or metropolis");
  if (rg_policy_parse(arg.policy, &policy)) {
    snprintf(text, RGP_TEXT, "--policy: %s", rg_error_detail());
    return 1;
  }
  if (is_outside(arg.group, 1, INT_MAX, 1))
    return bad_option(text, "group", "a whole number from 1 on");
  if (is_outside(arg.walkers, 1, 1000000, 1))
    return bad_option(text, "walkers", "a whole number from 1 to 1000000");
  if (is_outside(arg.samples, 4, 10000000, DEFAULT))
    return bad_option(text, "samples", "a whole number from 4 to 10000000");
  if (is_outside(arg.thin, 1, 1000000, DEFAULT))
    return bad_option(text, "thin", "a whole number from 1 to 1000000");
  if (is_outside(arg.tune, 8, 10000000, DEFAULT))
    return bad_option(text, "tune", "a whole number from 8 to 10000000");
  if (is_outside(arg.unit, 1, INT_MAX, 1))
    return bad_option(text, "unit", "a whole number from 1 on");
  if (is_outside(arg.scale, 1, 100000, 1))
    return bad_option(text, "scale", "a whole number from 1 to 100000");
  if (arg.seed < 0)
    return bad_option(text, "seed", "a whole number from 0 on");
  return 0;
}

const rgp_program post_options_program = {
    .name = "regroup-mcmc",
    .summary = "Samples a posterior with a known answer: walkers of eight chains each, their\n"
               "densities worked out by groups of ranks. The draws have the same bits on any\n"
               "number of ranks. Start it under mpiexec with any number of ranks.",
    .arguments = "--model NAME [OPTION...]",
    .options = table,
    .check = check_options};

/* Some defaults depend on other options. */
static post_walker_setup setup_of(void) {
  post_walker_sampler sampler = (post_walker_sampler)sampler_of(arg.sampler);
  const post_model_kind *kind = post_model_find(arg.model);
  int walk = sampler == POST_METROPOLIS;
  return (post_walker_setup){.kind = kind,
                             .sampler = sampler,
                             .seed = (uint64_t)arg.seed,
                             .walkers = arg.walkers,
                             .samples = arg.samples >= 0 ? arg.samples : kind->samples,
                             .thin = arg.thin >= 0 ? arg.thin
                                     : walk        ? 50
                                                   : 1,
                             .tune = arg.tune >= 0 ? arg.tune
                                     : walk        ? 5000
                                                   : 500,
                             .scale = (int)arg.scale};
}

int post_options_read(int argc, char **argv, int rank, post_options *o, int *status) {
  if (!rgp_parse(&post_options_program, argc, argv, rank, status))
    return 0;
  *o = (post_options){.setup = setup_of(),
                      .group = (int)arg.group,
                      .policy = policy,
                      .unit = (int)arg.unit,
                      .check = arg.check,
                      .quiet = arg.quiet,
                      .draws = arg.draws,
                      .plot = arg.plot,
                      .json = arg.json,
                      .checkpoint = arg.checkpoint,
                      .kill = arg.kill};
  return 1;
}
