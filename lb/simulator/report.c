/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The results as a table, whose columns are as wide as the names need, and as JSON. */
#include "report.h"

#include <regroup/version.h>
#include <string.h>

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

static void print_head(const sim_options *o, int name, int pattern) {
  printf("%-*s  %-*s %9s %9s %9s %7s  %6s %5s %3s %3s", name, "policy", pattern, "pattern", "ranks",
         "seconds", "bound", "x bound", "mean", "sd", "min", "max");
  printf(o->published ? " %10s %7s\n" : "\n", "published", "differs");
}

static void print_row(const sim_options *o, const sim_report_row *row, int name, int pattern) {
  const sim_result *r = &row->result;
  double published = sim_report_published(row->policy, row->ranks);
  printf("%-*s  %-*s %9lld %9.3f %9.3f %7.3f  %6.2f %5.2f %3lld %3lld", name, row->policy, pattern,
         row->pattern, (long long)row->ranks, r->seconds, r->bound,
         r->bound > 0 ? r->seconds / r->bound : 1, r->mean, r->sd, (long long)r->least,
         (long long)r->most);
  if (o->published && published > 0)
    printf(" %10.2f %+6.1f%%", published, 100 * (r->seconds / published - 1));
  printf("\n");
}

void sim_report_print(const sim_options *o, const sim_report_row rows[], int count) {
  int name = 6, pattern = 7;
  for (int i = 0; i < count; i++) {
    int n = (int)strlen(rows[i].policy), p = (int)strlen(rows[i].pattern);
    name = n > name ? n : name;
    pattern = p > pattern ? p : pattern;
  }
  print_head(o, name, pattern);
  for (int i = 0; i < count; i++)
    print_row(o, &rows[i], name, pattern);
  if (o->published)
    fputs(notes, stdout);
}

static json_t *row_json(const sim_options *o, const sim_report_row *row) {
  const sim_result *r = &row->result;
  double published = sim_report_published(row->policy, row->ranks);
  json_t *j = json_pack("{sssssIsfsfsfs{sfsfsIsI}sIsIsIsIsI}", "policy", row->policy, "pattern",
                        row->pattern, "ranks", (json_int_t)row->ranks, "seconds", r->seconds,
                        "bound_seconds", r->bound, "simulation_seconds", row->took, "regroupings",
                        "mean", r->mean, "sd", r->sd, "min", (json_int_t)r->least, "max",
                        (json_int_t)r->most, "formations", (json_int_t)r->formations,
                        "policy_calls", (json_int_t)r->asked, "refusals", (json_int_t)r->refused,
                        "meetings", (json_int_t)r->meetings, "crossed", (json_int_t)r->crossed);
  if (o->published && published > 0)
    json_object_set_new(j, "published_seconds", json_real(published));
  return j;
}

json_t *sim_report_json(const sim_options *o, const sim_report_row rows[], int count) {
  json_t *list = json_array();
  const sim_machine *m = &o->machine;
  for (int i = 0; i < count; i++)
    json_array_append_new(list, row_json(o, &rows[i]));
  json_t *machine = json_pack("{sssfsisfsfsisbsfsfsf}", "name", m->name, "latency", m->latency,
                              "steps", m->steps, "exchange_per_rank", m->per_rank, "startup",
                              m->startup, "polls", m->polls, "idle_join", m->idle_join, "jitter",
                              m->jitter, "serial", m->serial, "between", m->between);
  json_t *formation = json_array();
  for (int i = 0; i < m->sizes; i++)
    json_array_append_new(formation,
                          json_pack("{sfsf}", "ranks", m->size[i], "seconds", m->seconds[i]));
  json_object_set_new(machine, "formation", formation);
  return json_pack("{sssIsIsIsIsfsfsfsisIsoso}", "version", RG_VERSION, "group",
                   (json_int_t)o->group, "least", (json_int_t)o->least, "most", (json_int_t)o->most,
                   "nodes", (json_int_t)o->nodes, "late", o->late, "unit", o->unit, "bound",
                   o->bound, "view", o->view, "seed", (json_int_t)o->seed, "machine", machine,
                   "results", list);
}
