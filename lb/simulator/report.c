/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The results as a table, whose columns are as wide as the names need, and as JSON. */
#include <regroup/version.h>
#include <string.h>

#include "report.h"

static const char notes[] =
    "\n"
    "Published: Dinan et al., Noncollective Communicator Creation in MPI (EuroMPI 2011),\n"
    "Fig. 2; and by its Table 1 the groups that a process was in at 8192 ranks (mean, sd,\n"
    "least, most): sync with i up to 32 5.38 2.12 2 8, i = 64 3.75 1.20 2 5, i = 128\n"
    "2.62 0.48 2 3; asynchronous 14.38 3.54 5 26.\n"
    "docs/balancing.md tells what the costs are taken from.\n"
    "With i = 128 the published time is less than the published rules allow: the longest\n"
    "walker has 24 of its 280 units left after the second 128 and is joined only then, so\n"
    "that 256 x 25 ms + 24 x 3.125 ms = 6.475 s pass even if regrouping costs nothing.\n";

static void print_head(const sim_options *options, int name, int pattern) {
  printf("%-*s  %-*s %9s %9s %9s %7s  %6s %5s %3s %3s", name, "policy", pattern, "pattern", "ranks",
         "seconds", "bound", "x bound", "mean", "sd", "min", "max");
  printf(options->published ? " %10s %7s\n" : "\n", "published", "differs");
}

static void print_row(const sim_options *options, const sim_report_row *row, int name,
                      int pattern) {
  const sim_result *result = &row->result;
  double published = sim_report_published(row->policy, row->ranks);
  printf("%-*s  %-*s %9lld %9.3f %9.3f %7.3f  %6.2f %5.2f %3lld %3lld", name, row->policy, pattern,
         row->pattern, (long long)row->ranks, result->seconds, result->bound,
         result->bound > 0 ? result->seconds / result->bound : 1, result->mean, result->sd,
         (long long)result->least, (long long)result->most);
  if (options->published && published > 0)
    printf(" %10.2f %+6.1f%%", published, 100 * (result->seconds / published - 1));
  printf("\n");
}

void sim_report_print(const sim_options *options, const sim_report_row rows[], int count) {
  int name = 6, pattern = 7;
  for (int i = 0; i < count; i++) {
    int n = (int)strlen(rows[i].policy), p = (int)strlen(rows[i].pattern);
    name = n > name ? n : name;
    pattern = p > pattern ? p : pattern;
  }
  print_head(options, name, pattern);
  for (int i = 0; i < count; i++)
    print_row(options, &rows[i], name, pattern);
  if (options->published)
    fputs(notes, stdout);
}

static json_t *row_json(const sim_options *options, const sim_report_row *row) {
  const sim_result *result = &row->result;
  double published = sim_report_published(row->policy, row->ranks);
  json_t *j =
      json_pack("{sssssIsfsfsfs{sfsfsIsI}sIsIsIsIsI}", "policy", row->policy, "pattern",
                row->pattern, "ranks", (json_int_t)row->ranks, "seconds", result->seconds,
                "bound_seconds", result->bound, "simulation_seconds", row->took, "regroupings",
                "mean", result->mean, "sd", result->sd, "min", (json_int_t)result->least, "max",
                (json_int_t)result->most, "formations", (json_int_t)result->formations,
                "policy_calls", (json_int_t)result->asked, "refusals", (json_int_t)result->refused,
                "meetings", (json_int_t)result->meetings, "crossed", (json_int_t)result->crossed);
  if (options->published && published > 0)
    json_object_set_new(j, "published_seconds", json_real(published));
  return j;
}

json_t *sim_report_json(const sim_options *options, const sim_report_row rows[], int count) {
  json_t *list = json_array();
  const sim_machine *machine = &options->machine;
  for (int i = 0; i < count; i++)
    json_array_append_new(list, row_json(options, &rows[i]));
  json_t *described =
      json_pack("{sssfsisfsfsisbsfsfsf}", "name", machine->name, "latency", machine->latency,
                "steps", machine->steps, "exchange_per_rank", machine->per_rank, "startup",
                machine->startup, "polls", machine->polls, "idle_join", machine->idle_join,
                "jitter", machine->jitter, "serial", machine->serial, "between", machine->between);
  json_t *formation = json_array();
  for (int i = 0; i < machine->sizes; i++)
    json_array_append_new(
        formation, json_pack("{sfsf}", "ranks", machine->size[i], "seconds", machine->seconds[i]));
  json_object_set_new(described, "formation", formation);
  return json_pack("{sssIsIsIsIsfsfsfsisIsoso}", "version", RG_VERSION, "group",
                   (json_int_t)options->group, "least", (json_int_t)options->least, "most",
                   (json_int_t)options->most, "nodes", (json_int_t)options->nodes, "late",
                   options->late, "unit", options->unit, "bound", options->bound, "view",
                   options->view, "seed", (json_int_t)options->seed, "machine", described,
                   "results", list);
}

/* --- published figures ------------------------------------------------------------------------ */

/* Dinan et al., Noncollective Communicator Creation in MPI (EuroMPI 2011), Fig. 2. */
static const struct {
  const char *policy;
  int64_t ranks;
  double seconds;
} figure[] = {{"none", 32, 7.01},       {"none", 512, 7.01},       {"none", 8192, 7.01},
              {"sync:i=1", 32, 6.25},   {"sync:i=1", 512, 6.31},   {"sync:i=1", 8192, 6.60},
              {"sync:i=16", 32, 6.17},  {"sync:i=16", 512, 6.21},  {"sync:i=16", 8192, 6.29},
              {"sync:i=128", 32, 6.10}, {"sync:i=128", 512, 6.14}, {"sync:i=128", 8192, 6.21},
              {"join-right", 32, 3.88}, {"join-right", 512, 3.91}, {"join-right", 8192, 4.03}};

double sim_report_published(const char *policy, int64_t ranks) {
  for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
    if (!strcmp(figure[i].policy, policy) && figure[i].ranks == ranks)
      return figure[i].seconds;
  return 0;
}
