/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-mcmc: walkers with unequal work on groups that merge while they run.
 * docs/mcmc.md tells the rules. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "pace.h"
#include "posterior/posterior.h"
#include "result.h"

void mcmc_must(int error, const char *call) {
  if (!error)
    return;
  const char *detail = rg_error_detail();
  fprintf(stderr, "regroup-mcmc: %s: %s\n", call, *detail ? detail : rg_error_string(error));
  MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  abort();
}

static int may_survive(void) {
  const char *name, *value;
  int count = 0;
  mcmc_must(rg_option_count(&count), "rg_option_count");
  for (int i = 0; i < count; i++)
    if (!rg_option_get(i, &name, &value, NULL, NULL, NULL, NULL) && !strcmp(name, "RG_SURVIVE"))
      return strcmp(value, "0") != 0;
  return 0;
}

/* The walkers, and whether somebody wants to see progress. */
static void set_up(mcmc_run *run) {
  const mcmc_options *o = &run->o;
  int ranks;
  run->survives = may_survive();
  mcmc_must(rg_group_world(&run->world), "rg_group_world");
  mcmc_must(rg_group_comm(run->world, &run->wire), "rg_group_comm");
  MPI_Comm_size(run->wire, &ranks);
  run->plan = mcmc_plan_make(ranks, o->group, o->walkers, o->samples, o->unit, o->sample);
  if (o->pattern)
    mcmc_must(mcmc_plan_use(&run->plan, o->pattern, o->bound), "the pattern of work");
  run->board.wanted = run->rank == 0 && !o->quiet && (o->progress || mcmc_watched());
  MPI_Bcast(&run->board.wanted, 1, MPI_INT, 0, run->wire);
  if (mcmc_watches(run))
    mcmc_board_start(&run->board, ranks);
  if (o->trace || o->chrome || o->spans)
    mcmc_must(rg_timeline_create(&run->timeline), "rg_timeline_create");
  mcmc_kernel_prepare(run);
  mcmc_must(rg_barrier(run->world), "rg_barrier"); /* the one that starts the clock is not first */
}

static void work(mcmc_run *run) {
  run->entered = rgp_now();
  mcmc_must(rg_barrier(run->world), "rg_barrier");
  run->began = run->ended = rgp_now();
  mcmc_must(rg_balance_run(run->balancer), "rg_balance_run");
}

static void write_as(const mcmc_run *run, const char *path, rg_timeline_format format,
                     const rg_timeline_words *words) {
  if (path)
    mcmc_must(rg_timeline_write(run->timeline, path, format, words), "rg_timeline_write");
}

static void draw(const mcmc_run *run, const mcmc_result *r) {
  char title[160], interval[40] = "", subtitle[200];
  if (strcmp(run->o.balance, "sync") == 0)
    snprintf(interval, sizeof interval, " every %d units", run->o.interval);
  snprintf(title, sizeof title, "MCMC kernel on %d ranks, balance %s%s: %.2f s", run->plan.ranks,
           run->o.balance, interval, r->seconds);
  snprintf(subtitle, sizeof subtitle,
           "without balancing %.2f s, ideal %.2f s, efficiency %.1f %%, %.2f regroupings per "
           "process; a frame is the life of a group",
           r->baseline, r->ideal, 100 * r->efficiency, r->mean);
  rg_timeline_words words = {title, subtitle, r->seconds, r->ideal};
  write_as(run, run->o.trace, RG_TIMELINE_SVG, &words);
  write_as(run, run->o.chrome, RG_TIMELINE_CHROME, &words);
  write_as(run, run->o.spans, RG_TIMELINE_JSON, &words);
}

/* Collective when a timeline was recorded. */
static void write_timeline(mcmc_run *run, const mcmc_result *r) {
  if (!run->timeline)
    return;
  mcmc_must(rg_timeline_end(run->timeline, r->origin + r->seconds), "rg_timeline_end");
  mcmc_must(rg_timeline_gather(run->timeline, run->world, r->origin, 0), "rg_timeline_gather");
  if (run->rank == 0)
    draw(run, r);
  mcmc_must(rg_timeline_free(&run->timeline), "rg_timeline_free");
}

/* Whether each sample was executed once. */
static int complete(const mcmc_run *run, const mcmc_result *r) {
  int good = r->executed == (uint64_t)r->samples;
  if (!good && run->rank == 0)
    fprintf(stderr, "regroup-mcmc: %llu samples were executed instead of %lld\n",
            (unsigned long long)r->executed, (long long)r->samples);
  if (run->rank == 0 && r->visits != r->units) {
    fprintf(stderr, "regroup-mcmc: %lld visits were counted instead of %lld\n",
            (long long)r->visits, (long long)r->units);
    return 0;
  }
  return good;
}

static int do_run(mcmc_run *run, FILE *json) {
  set_up(run);
  work(run);
  mcmc_result r = mcmc_result_collect(run);
  if (mcmc_watches(run))
    mcmc_board_end(&run->board);
  write_timeline(run, &r);
  int good = complete(run, &r);
  if (run->rank == 0) {
    good = rgp_write_json(&mcmc_program, run->o.json, json, mcmc_result_json(run, &r)) && good;
    if (!run->o.quiet)
      mcmc_result_print(run, &r);
  }
  mcmc_must(rg_balance_free(&run->balancer), "rg_balance_free");
  mcmc_plan_free(&run->plan);
  mcmc_must(rg_group_free(&run->world), "rg_group_free");
  return good ? RGP_OK : RGP_FAILED;
}

/* Rank 0 looks before the work starts whether the files can be written. */
static int open_files(const mcmc_run *run, FILE **json) {
  const char *pictures[] = {run->o.trace, run->o.chrome, run->o.spans};
  int good = run->rank != 0 || rgp_open(&mcmc_program, run->o.json, json);
  for (int i = 0; i < 3 && run->rank == 0 && good; i++) {
    FILE *f = NULL;
    good = rgp_open(&mcmc_program, pictures[i], &f);
    if (f)
      fclose(f);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good;
}

int main(int argc, char **argv) {
  mcmc_run run = {0};
  FILE *json = NULL;
  int status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  if (post_wanted(argc, argv)) {
    status = post_main(argc, argv, run.rank);
  } else if (mcmc_options_read(argc, argv, run.rank, &run.o, &status)) {
    status = RGP_USAGE;
    if (open_files(&run, &json)) {
      mcmc_must(rg_init(MPI_COMM_WORLD, NULL), "rg_init");
      status = do_run(&run, json);
      mcmc_must(rg_finalize(), "rg_finalize");
    }
  }
  MPI_Finalize();
  return status;
}
