/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line by popt, and the checks of what it says. */
#include "options.h"

#include <limits.h>
#include <regroup/error.h>
#include <stdlib.h>
#include <string.h>

#define UNSET (-1e300)

/* popt writes into these. */
static struct {
  char *ranks, *machine, *json, *svg;
  const char **policy, **pattern;
  long long group, least, most, nodes, seed, view, polls, steps;
  double late, bound, unit, merge, latency, startup, jitter, serial, between;
  int published, idle_join, quiet;
} arg = {.group = 4,
         .seed = 1,
         .view = 128,
         .polls = LLONG_MIN,
         .steps = LLONG_MIN,
         .unit = 0.1,
         .merge = UNSET,
         .latency = UNSET,
         .startup = UNSET,
         .jitter = UNSET};

static const struct poptOption table[] = {
    {"ranks", 'n', POPT_ARG_STRING, &arg.ranks, 0, "Numbers of ranks; default 32", "LIST"},
    {"policy", 'b', POPT_ARG_ARGV, &arg.policy, 0,
     "Policy with its options, as sync:i=16; more than once for more; default share-out", "POLICY"},
    {"pattern", 'w', POPT_ARG_ARGV, &arg.pattern, 0,
     "Pattern of work: published, ascending, descending, random:SEED, huge, heavy-tail:SEED, "
     "queue:SEED, tempering (walkers that meet); more than once for more; default published",
     "PATTERN"},
    {"bound", 0, POPT_ARG_DOUBLE, &arg.bound, 0,
     "Scale the work so that all ranks need so long for it, evenly shared", "SECONDS"},
    {"group", 'g', POPT_ARG_LONGLONG, &arg.group, 0, "Ranks in a group at first; default 4", "N"},
    {"least", 0, POPT_ARG_LONGLONG, &arg.least, 0, "Processes that a walker needs; default 0", "N"},
    {"most", 0, POPT_ARG_LONGLONG, &arg.most, 0,
     "Processes that a walker can use; default 0, no limit", "N"},
    {"nodes", 0, POPT_ARG_LONGLONG, &arg.nodes, 0,
     "Nodes on which the ranks lie, in equal parts; default 0, as on one", "N"},
    {"late", 0, POPT_ARG_DOUBLE, &arg.late, 0,
     "The walkers that find no group at first (pattern queue) come so late; default 0", "SECONDS"},
    {"unit", 'u', POPT_ARG_DOUBLE, &arg.unit, 0,
     "What a unit of work takes on one rank; default 0.1", "SECONDS"},
    {"machine", 'm', POPT_ARG_STRING, &arg.machine, 0,
     "What things cost: published (Blue Gene/P), free, or a result of regroup-bench create --json; "
     "default published",
     "MACHINE"},
    {"merge-cost", 0, POPT_ARG_DOUBLE, &arg.merge, 0, "Forming any group takes so long", "SECONDS"},
    {"latency", 0, POPT_ARG_DOUBLE, &arg.latency, 0, "A small message takes so long", "SECONDS"},
    {"between", 0, POPT_ARG_DOUBLE, &arg.between, 0,
     "A small message between nodes takes so much longer; default 0", "SECONDS"},
    {"startup", 0, POPT_ARG_DOUBLE, &arg.startup, 0,
     "What balancing costs once, for each doubling of the ranks", "SECONDS"},
    {"steps", 0, POPT_ARG_LONGLONG, &arg.steps, 0,
     "Messages one after another, for each doubling of a group, by which it agrees after a unit",
     "N"},
    {"polls", 0, POPT_ARG_LONGLONG, &arg.polls, 0,
     "How often a group must look, once after each unit, before it sees a request", "N"},
    {"jitter", 0, POPT_ARG_DOUBLE, &arg.jitter, 0,
     "Part by which the time of a unit differs between groups", "PART"},
    {"serial", 0, POPT_ARG_DOUBLE, &arg.serial, 0,
     "Part of a unit that does not shrink with the group; default 0", "PART"},
    {"idle-join", 0, POPT_ARG_NONE, &arg.idle_join, 0,
     "Idle groups may be joined too (so on the published machine)", NULL},
    {"view", 0, POPT_ARG_LONGLONG, &arg.view, 0,
     "How many groups around it a group knows of; default 128", "N"},
    {"seed", 0, POPT_ARG_LONGLONG, &arg.seed, 0, "Seed of the jitter; default 1", "N"},
    {"published", 0, POPT_ARG_NONE, &arg.published, 0,
     "Simulate the published figure, and compare (32, 512 and 8192 ranks)", NULL},
    {"json", 'j', POPT_ARG_STRING, &arg.json, 0, "Write the result for programs", "FILE"},
    {"svg", 's', POPT_ARG_STRING, &arg.svg, 0, "Draw the result (gnuplot)", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &arg.quiet, 0, "Print nothing but errors", NULL},
    POPT_TABLEEND};

static sim_options got;

static int bad_option(char text[RGP_TEXT], const char *option, const char *wanted) {
  snprintf(text, RGP_TEXT, "--%s: must be %s", option, wanted);
  return 1;
}

static int bad_detail(char text[RGP_TEXT]) {
  snprintf(text, RGP_TEXT, "%s", rg_error_detail());
  return 1;
}

static int read_ranks(const char *list) {
  const int most = sizeof got.ranks / sizeof *got.ranks;
  char *end;
  for (got.ranks_count = 0; got.ranks_count < most; list = end + 1) {
    long long n = strtoll(list, &end, 10);
    if (end == list || n < 1 || n > INT_MAX / 2 || (*end && *end != ','))
      return 0;
    got.ranks[got.ranks_count++] = n;
    if (!*end)
      return 1;
  }
  return 0;
}

static int64_t least_ranks(void) {
  int64_t least = got.ranks[0];
  for (int i = 1; i < got.ranks_count; i++)
    least = got.ranks[i] < least ? got.ranks[i] : least;
  return least;
}

static int check_names(char text[RGP_TEXT]) {
  rg_policy policy = {.size = sizeof policy};
  rgi_pattern pattern;
  for (const char **p = arg.policy; p && *p; p++)
    if (rg_policy_parse(*p, &policy))
      return bad_detail(text);
  for (const char **p = arg.pattern; p && *p; p++) {
    if (strcmp(*p, SIM_TEMPERING) == 0)
      continue;
    if (rgi_pattern_make(*p, 1, 1, 1, &pattern))
      return bad_detail(text);
    rgi_pattern_free(&pattern);
  }
  return sim_machine_read(arg.machine ? arg.machine : "published", &got.machine) ? bad_detail(text)
                                                                                 : 0;
}

static int check_costs(char text[RGP_TEXT]) {
  if (arg.merge != UNSET && !(arg.merge >= 0 && arg.merge <= 1e6))
    return bad_option(text, "merge-cost", "from 0 to 1e6 seconds");
  if (arg.latency != UNSET && !(arg.latency >= 0 && arg.latency <= 1e6))
    return bad_option(text, "latency", "from 0 to 1e6 seconds");
  if (arg.startup != UNSET && !(arg.startup >= 0 && arg.startup <= 1e6))
    return bad_option(text, "startup", "from 0 to 1e6 seconds");
  if (arg.jitter != UNSET && !(arg.jitter >= 0 && arg.jitter < 1))
    return bad_option(text, "jitter", "from 0 to below 1");
  if (!(arg.between >= 0 && arg.between <= 1e6))
    return bad_option(text, "between", "from 0 to 1e6 seconds");
  if (!(arg.serial >= 0 && arg.serial <= 1))
    return bad_option(text, "serial", "from 0 to 1");
  if (arg.steps != LLONG_MIN && (arg.steps < 0 || arg.steps > 1000))
    return bad_option(text, "steps", "from 0 to 1000");
  if (arg.polls != LLONG_MIN && (arg.polls < 1 || arg.polls > 1000))
    return bad_option(text, "polls", "from 1 to 1000");
  return 0;
}

static int check_options(const char *const words[], char text[RGP_TEXT]) {
  (void)words;
  if (!read_ranks(arg.ranks ? arg.ranks : arg.published ? "32,512,8192" : "32"))
    return bad_option(text, "ranks", "up to 64 whole numbers from 1 on, with commas");
  if (arg.group < 1 || arg.group > INT_MAX)
    return bad_option(text, "group", "a whole number from 1 on");
  if (arg.least < 0 || arg.least > least_ranks())
    return bad_option(text, "least", "from 0 to the number of ranks");
  if (arg.most < 0 || (arg.most > 0 && arg.most < arg.least))
    return bad_option(text, "most", "0, or not less than --least");
  if (arg.nodes < 0 || arg.nodes > least_ranks())
    return bad_option(text, "nodes", "from 0 to the number of ranks");
  if (!(arg.late >= 0 && arg.late <= 1e6))
    return bad_option(text, "late", "from 0 to 1e6 seconds");
  if (!(arg.unit >= 1e-9 && arg.unit <= 1e6))
    return bad_option(text, "unit", "from 1e-9 to 1e6 seconds");
  if (!(arg.bound >= 0 && arg.bound <= 1e9))
    return bad_option(text, "bound", "from 0 to 1e9 seconds");
  if (arg.bound / arg.unit > 1e9)
    return bad_option(text, "bound", "at most 1e9 units for each rank");
  if (arg.view < 2 || arg.view > 1000000)
    return bad_option(text, "view", "from 2 to 1000000");
  if (arg.seed < 0)
    return bad_option(text, "seed", "a whole number from 0 on");
  return check_costs(text) || check_names(text);
}

const rgp_program sim_options_program = {
    .name = "regroup-simulate",
    .summary = "Simulates load balancing with the library's own policies, for as many ranks as\n"
               "you like: how long a pattern of work takes, and how often processes regroup.",
    .arguments = "[OPTION...]",
    .options = table,
    .check = check_options};

static void set_costs(sim_machine *machine) {
  if (arg.merge != UNSET)
    sim_machine_fix(machine, arg.merge);
  if (arg.latency != UNSET)
    machine->latency = arg.latency;
  if (arg.startup != UNSET)
    machine->startup = arg.startup;
  if (arg.jitter != UNSET)
    machine->jitter = arg.jitter;
  if (arg.steps != LLONG_MIN)
    machine->steps = (int)arg.steps;
  if (arg.polls != LLONG_MIN)
    machine->polls = (int)arg.polls;
  machine->serial = arg.serial;
  machine->between = arg.between;
  machine->idle_join |= arg.idle_join;
}

int sim_options_read(int argc, char **argv, int rank, sim_options *options, int *status) {
  static const char *published_policies[] = {"none",       "sync:i=1",   "sync:i=16",
                                             "sync:i=128", "join-right", NULL};
  static const char *default_policies[] = {"share-out", NULL},
                    *default_patterns[] = {"published", NULL};
  if (!rgp_parse(&sim_options_program, argc, argv, rank, status))
    return 0;
  set_costs(&got.machine);
  got.policies = arg.policy ? arg.policy : arg.published ? published_policies : default_policies;
  got.patterns = arg.pattern && !arg.published ? arg.pattern : default_patterns;
  got.group = arg.group;
  got.least = arg.least;
  got.most = arg.most;
  got.nodes = arg.nodes;
  got.late = arg.late;
  got.bound = arg.bound;
  got.unit = arg.unit;
  got.view = (int)arg.view;
  got.seed = (uint64_t)arg.seed;
  got.published = arg.published;
  got.quiet = arg.quiet;
  got.json = arg.json;
  got.svg = arg.svg;
  *options = got;
  return 1;
}
