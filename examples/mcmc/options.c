/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line by popt, and the checks of what it says. */
#include "options.h"

#include <limits.h>
#include <regroup/error.h>
#include <string.h>

#include "../common/survivors.h"
#include "lb/patterns/pattern.h"

#define NOT_GIVEN LLONG_MIN

/* popt writes into these; mcmc_options_read makes an mcmc_options of them. */
static struct {
  char *balance, *policy, *pattern, *work, *trace, *json, *chrome, *spans, *kill, *checkpoint;
  long long group, interval, walkers, samples, unit, seed;
  double sample_us, scale, bound;
  int progress, quiet;
} arg = {.group = 4,
         .interval = NOT_GIVEN,
         .samples = 10000,
         .unit = 1000,
         .seed = 1,
         .sample_us = 100,
         .scale = 1};

static const struct poptOption table[] = {
    {"balance", 'b', POPT_ARG_STRING, &arg.balance, 0,
     "The policy: none, async (a group that has finished joins its right neighbour) or sync "
     "(all regroup together); default async",
     "POLICY"},
    {"interval", 'i', POPT_ARG_LONGLONG, &arg.interval, 0,
     "With a synchronous policy: units of work between two regroupings; default 16", "UNITS"},
    {"policy", 'p', POPT_ARG_STRING, &arg.policy, 0,
     "Instead of --balance: a policy of the library, with its options: none, join-right, sync, "
     "most-work, share-out, release",
     "NAME[:OPTIONS]"},
    {"pattern", 0, POPT_ARG_STRING, &arg.pattern, 0,
     "Units of the walkers: published, ascending, descending, random:SEED, huge, heavy-tail:SEED, "
     "queue:SEED; instead of --walkers and --samples",
     "NAME"},
    {"bound", 0, POPT_ARG_DOUBLE, &arg.bound, 0,
     "With --pattern: scale it so that all ranks together need S seconds (times the time scale)",
     "S"},
    {"group", 'g', POPT_ARG_LONGLONG, &arg.group, 0, "Ranks in a group at first; default 4", "N"},
    {"walkers", 'w', POPT_ARG_LONGLONG, &arg.walkers, 0,
     "Fix the list of walkers, whatever the number of ranks: walker w has the work and the key of "
     "leader rank 4 w; default one walker for each group",
     "N"},
    {"samples", 'n', POPT_ARG_LONGLONG, &arg.samples, 0,
     "A walker with key R has (R mod 32) times N samples; default 10000", "N"},
    {"unit", 'u', POPT_ARG_LONGLONG, &arg.unit, 0, "Samples in a unit of work; default 1000", "N"},
    {"sample-time", 't', POPT_ARG_DOUBLE, &arg.sample_us, 0,
     "Microseconds that a sample takes on one rank; default 100", "US"},
    {"time-scale", 's', POPT_ARG_DOUBLE, &arg.scale, 0, "Multiply all times by X; default 1", "X"},
    {"work", 0, POPT_ARG_STRING, &arg.work, 0,
     "sleep, or spin to use processor time; default sleep", "KIND"},
    {"seed", 0, POPT_ARG_LONGLONG, &arg.seed, 0, "Seed of the random steps; default 1", "N"},
    {"trace", 0, POPT_ARG_STRING, &arg.trace, 0,
     "Draw a timeline of all ranks; as FILE.html it can be zoomed", "FILE.svg"},
    {"checkpoint", 0, POPT_ARG_STRING, &arg.checkpoint, 0,
     "On SIGUSR1 or SIGTERM, and before the job's time ends, save to FILE.0 or FILE.1 and end with "
     "status 99; a run that finds them continues",
     "FILE"},
    {"kill", 0, POPT_ARG_STRING, &arg.kill, 0,
     "Kill ranks, each so many seconds after the start or in its next merge; or three at random. "
     "For jobs started by regroup-run",
     "RANK:SECONDS,RANK:merge,...|seed:N"},
    {"chrome-trace", 0, POPT_ARG_STRING, &arg.chrome, 0,
     "Write the timeline for chrome://tracing and Perfetto", "FILE.json"},
    {"spans", 0, POPT_ARG_STRING, &arg.spans, 0, "Write the timeline as plain JSON", "FILE.json"},
    {"json", 0, POPT_ARG_STRING, &arg.json, 0, "Write the result for programs", "FILE"},
    {"progress", 0, POPT_ARG_NONE, &arg.progress, 0,
     "Show progress although standard error is no terminal", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &arg.quiet, 0, "Print nothing but errors", NULL},
    POPT_TABLEEND};

static const char *const ways[] = {"none", "async", "sync"};

static int is_way(const char *name) {
  for (int i = 0; i < 3; i++)
    if (strcmp(name, ways[i]) == 0)
      return 1;
  return 0;
}

/* Reads the policy into *policy; rg_error_detail says what is wrong. */
static int read_policy(rg_policy *policy) {
  const char *way = arg.policy ? arg.policy : arg.balance ? arg.balance : "async";
  policy->size = sizeof *policy;
  int error =
      rg_policy_parse(!arg.policy && strcmp(way, "async") == 0 ? "join-right" : way, policy);
  if (!error && arg.interval != NOT_GIVEN && policy->interval > 0)
    policy->interval = arg.interval;
  return error;
}

/* The interval is an option of the policy: --interval is another way to give it. */
static int bad_interval(const rg_policy *policy, char text[RGP_TEXT]) {
  const char *options = arg.policy ? strchr(arg.policy, ':') : NULL;
  if (arg.interval == NOT_GIVEN || !arg.policy)
    return 0;
  if (options && (strncmp(options, ":i=", 3) == 0 || strstr(options, ",i=")))
    return snprintf(text, RGP_TEXT, "--interval: the policy %s has an interval already",
                    arg.policy);
  return policy->interval == 0
             ? snprintf(text, RGP_TEXT, "--interval: %s is not synchronous; %s:i=%lld is",
                        policy->name, policy->name, arg.interval)
             : 0;
}

static int bad_policy(char text[RGP_TEXT]) {
  rg_policy policy;
  if (arg.policy && arg.balance)
    return snprintf(text, RGP_TEXT, "--policy and --balance: give only one of them");
  if (read_policy(&policy))
    return snprintf(text, RGP_TEXT, "--policy: %s", rg_error_detail());
  return bad_interval(&policy, text);
}

static int bad_pattern(char text[RGP_TEXT]) {
  rgi_pattern pattern;
  if (!arg.pattern)
    return 0;
  if (rgi_pattern_make(arg.pattern, 1, 1, 0, &pattern))
    return snprintf(text, RGP_TEXT, "--pattern: %s", rg_error_detail());
  rgi_pattern_free(&pattern);
  return 0;
}

static int bad_option(char text[RGP_TEXT], const char *option, const char *wanted) {
  snprintf(text, RGP_TEXT, "--%s: must be %s", option, wanted);
  return 1;
}

/* The limits keep every sum of samples below 2^63 and every time in a time_t. */
static int check_options(const char *const words[], char text[RGP_TEXT]) {
  (void)words;
  if (arg.balance && !is_way(arg.balance))
    return bad_option(text, "balance", "none, async or sync");
  if (arg.work && strcmp(arg.work, "sleep") && strcmp(arg.work, "spin"))
    return bad_option(text, "work", "sleep or spin");
  if (arg.interval != NOT_GIVEN && (arg.interval < 1 || arg.interval > INT_MAX))
    return bad_option(text, "interval", "a whole number from 1 on");
  if (bad_policy(text) || bad_pattern(text))
    return 1;
  if (!(arg.bound >= 0 && arg.bound <= 1e6))
    return bad_option(text, "bound", "from 0 to 1e6 seconds");
  if (arg.bound > 0 && (!arg.pattern || arg.sample_us == 0))
    return snprintf(text, RGP_TEXT, "--bound: only with --pattern and a sample time");
  if (arg.group < 1 || arg.group > INT_MAX)
    return bad_option(text, "group", "a whole number from 1 on");
  if (arg.walkers < 0 || arg.walkers > INT_MAX)
    return bad_option(text, "walkers", "a whole number from 1 on (or 0: one for each group)");
  if (arg.samples < 0 || arg.samples > 100000000)
    return bad_option(text, "samples", "a whole number from 0 to 100000000");
  if (arg.unit < 1 || arg.unit > INT_MAX)
    return bad_option(text, "unit", "a whole number from 1 on");
  if (!(arg.sample_us >= 0 && arg.sample_us <= 1e9))
    return bad_option(text, "sample-time", "from 0 to 1e9 microseconds");
  if (!(arg.scale > 0 && arg.scale <= 1e3))
    return bad_option(text, "time-scale", "above 0 and at most 1000");
  if (arg.seed < 0)
    return bad_option(text, "seed", "a whole number from 0 on");
  return 0;
}

const char common_name[] = "regroup-mcmc";
const rgp_program mcmc_options_program = {
    .name = common_name,
    .summary = "Random walkers with unequal work on groups of ranks that merge while they run:\n"
               "the MCMC benchmark kernel of Dinan et al., Noncollective Communicator Creation\n"
               "in MPI (EuroMPI 2011). Start it under mpiexec with any number of ranks.",
    .arguments = "[OPTION...]",
    .options = table,
    .check = check_options};

int mcmc_options_read(int argc, char **argv, int rank, mcmc_options *options, int *status) {
  if (!rgp_parse(&mcmc_options_program, argc, argv, rank, status))
    return 0;
  *options = (mcmc_options){.balance = arg.policy    ? arg.policy
                                       : arg.balance ? arg.balance
                                                     : "async",
                            .pattern = arg.pattern,
                            .bound = arg.bound * arg.scale,
                            .group = (int)arg.group,
                            .walkers = (int)arg.walkers,
                            .samples = (int)arg.samples,
                            .unit = (int)arg.unit,
                            .sample = arg.sample_us * 1e-6 * arg.scale,
                            .spin = arg.work && strcmp(arg.work, "spin") == 0,
                            .seed = (uint64_t)arg.seed,
                            .scale = arg.scale,
                            .progress = arg.progress,
                            .quiet = arg.quiet,
                            .trace = arg.trace,
                            .chrome = arg.chrome,
                            .spans = arg.spans,
                            .json = arg.json,
                            .checkpoint = arg.checkpoint,
                            .kill = arg.kill};
  return read_policy(&options->policy) == RG_SUCCESS;
}
