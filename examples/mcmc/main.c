/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-mcmc: walkers with unequal work on groups that merge while they run.
 * docs/mcmc.md tells the rules. */
#include <stdlib.h>
#include <string.h>

#include "../../lb/timeline/svg.h"
#include "crew.h"
#include "machine.h"
#include "pace.h"
#include "policies.h"
#include "result.h"

void mcmc_must(int error, const char *call) {
  if (!error)
    return;
  const char *detail = rg_error_detail();
  fprintf(stderr, "regroup-mcmc: %s: %s\n", call, *detail ? detail : rg_error_string(error));
  MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  abort();
}

/* The groups of all ranks, and whether somebody wants to see progress. */
static void set_up(mcmc_run *run) {
  const mcmc_options *o = &run->o;
  int ranks;
  mcmc_must(rg_group_world(&run->world), "rg_group_world");
  mcmc_must(rg_group_comm(run->world, &run->wire), "rg_group_comm");
  MPI_Comm_size(run->wire, &ranks);
  run->plan = mcmc_plan_make(ranks, o->group, o->walkers, o->samples, o->unit, o->sample);
  run->board.wanted = run->rank == 0 && !o->quiet && (o->progress || mcmc_watched());
  MPI_Bcast(&run->board.wanted, 1, MPI_INT, 0, run->wire);
  int processors = o->spin ? mcmc_processors(run->wire) : ranks;
  double share = processors < ranks ? (double)processors / ranks : 1;
  if (run->rank == 0 && run->board.wanted)
    mcmc_board_start(&run->board, &run->plan, o->sample > 0 ? share / o->sample : 1e9,
                     o->policy == MCMC_ASYNC);
  rgi_timeline_start(&run->timeline, o->trace != NULL);
  mcmc_must(rg_barrier(run->world), "rg_barrier"); /* the one that starts the clock is not first */
}

static void work(mcmc_run *run) {
  rg_request all_done;
  run->entered = rgp_now();
  mcmc_must(rg_barrier(run->world), "rg_barrier");
  run->began = run->ended = rgp_now();
  mcmc_crew_form(run);
  if (run->o.policy == MCMC_NONE)
    mcmc_run_none(run);
  else if (run->o.policy == MCMC_ASYNC)
    mcmc_run_async(run);
  else
    mcmc_run_sync(run);
  mcmc_crew_idle(run);
  mcmc_must(rg_ibarrier(run->world, &all_done), "rg_ibarrier");
  mcmc_wait(run, &all_done);
}

static int draw(const mcmc_run *run, const mcmc_result *r, FILE *f, const rgi_span *spans,
                const int *counts) {
  char title[160], interval[40] = "", subtitle[200];
  if (run->o.policy == MCMC_SYNC)
    snprintf(interval, sizeof interval, " every %d units", run->o.interval);
  snprintf(title, sizeof title, "MCMC kernel on %d ranks, balance %s%s: %.2f s", run->plan.ranks,
           mcmc_policy_name(run->o.policy), interval, r->seconds);
  snprintf(subtitle, sizeof subtitle,
           "without balancing %.2f s, ideal %.2f s, efficiency %.1f %%, %.2f regroupings per "
           "process; a frame is the life of a group",
           r->baseline, r->ideal, 100 * r->efficiency, r->mean);
  rgi_picture picture = {title, subtitle, run->plan.ranks, r->seconds, r->ideal};
  int good = rgi_timeline_draw(f, &picture, spans, counts);
  good = fclose(f) == 0 && good;
  if (!good)
    fprintf(stderr, "regroup-mcmc: %s could not be written\n", run->o.trace);
  return good;
}

/* Collective when a timeline was recorded. */
static int write_timeline(mcmc_run *run, const mcmc_result *r, FILE *f) {
  rgi_span *spans;
  int *counts, good = 1;
  if (!run->o.trace)
    return 1;
  rgi_timeline_end(&run->timeline, r->origin + r->seconds);
  if (!rgi_timeline_gather(&run->timeline, r->origin, run->wire, &spans, &counts)) {
    if (run->rank == 0)
      fprintf(stderr, "regroup-mcmc: no memory for the timeline\n");
    good = 0;
  } else if (run->rank == 0) {
    good = draw(run, r, f, spans, counts);
  }
  rgi_timeline_free(&run->timeline);
  free(spans);
  free(counts);
  return good;
}

/* Whether each sample was executed once. */
static int complete(const mcmc_run *run, const mcmc_result *r) {
  int good = r->executed == (uint64_t)r->samples;
  if (!good && run->rank == 0)
    fprintf(stderr, "regroup-mcmc: %llu samples were executed instead of %lld\n",
            (unsigned long long)r->executed, (long long)r->samples);
  return good;
}

static int do_run(mcmc_run *run, FILE *json, FILE *trace) {
  set_up(run);
  work(run);
  mcmc_result r = mcmc_result_collect(run);
  mcmc_take_notices(run, r.notices);
  if (run->rank == 0 && run->board.wanted)
    mcmc_board_end(&run->board);
  int good = write_timeline(run, &r, trace);
  good = complete(run, &r) && good;
  if (run->rank == 0) {
    good = rgp_write_json(&mcmc_program, run->o.json, json, mcmc_result_json(run, &r)) && good;
    if (!run->o.quiet)
      mcmc_result_print(run, &r);
  }
  mcmc_crew_leave(run);
  mcmc_must(rg_group_free(&run->world), "rg_group_free");
  return good ? RGP_OK : RGP_FAILED;
}

/* Rank 0 opens the result files before the work starts. */
static int open_files(const mcmc_run *run, FILE **json, FILE **trace) {
  int good = run->rank != 0 || (rgp_open(&mcmc_program, run->o.json, json) &&
                                rgp_open(&mcmc_program, run->o.trace, trace));
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good;
}

int main(int argc, char **argv) {
  mcmc_run run = {0};
  FILE *json = NULL, *trace = NULL;
  int status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  if (mcmc_options_read(argc, argv, run.rank, &run.o, &status)) {
    status = RGP_USAGE;
    if (open_files(&run, &json, &trace)) {
      mcmc_must(rg_init(MPI_COMM_WORLD, NULL), "rg_init");
      status = do_run(&run, json, trace);
      mcmc_must(rg_finalize(), "rg_finalize");
    }
  }
  MPI_Finalize();
  return status;
}
