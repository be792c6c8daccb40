/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-mcmc: walkers with unequal work on groups that merge while they run.
 * docs/mcmc.md explains them. */
#include <stdlib.h>
#include <string.h>

#include "delay.h"
#include "kernel.h"
#include "result.h"

/* Asks MPI, before rg_init: the job does not survive deaths here yet. */
static int on_several_nodes(void) {
  MPI_Comm node;
  int here, all;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_free(&node);
  return here < all;
}

/* What cannot be done with this number of ranks is found on all of them alike, and ends the job as
 * a wrong option does: what a rank says before MPI_Abort may be lost. */
static int make_plan(mcmc_run *run) {
  const mcmc_options *o = &run->o;
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run->plan = mcmc_plan_make(ranks, o->group, o->walkers, o->samples, o->unit, o->sample);
  int error = o->pattern ? mcmc_plan_use(&run->plan, o->pattern, o->bound) : RG_SUCCESS;
  if (error && run->rank == 0)
    fprintf(stderr, "regroup-mcmc: the pattern of work: %s\n", rg_error_detail());
  return !error;
}

static int load_walkers(void *run) {
  return mcmc_kernel_load(run);
}

/* Sets up the walkers, and finds whether progress is to be shown. */
static void set_up(mcmc_run *run) {
  const mcmc_options *o = &run->o;
  common_must(rg_group_world(&run->world), "rg_group_world");
  common_survivors_open(&run->survivors);
  run->progress.wanted = run->rank == 0 && !o->quiet && (o->progress || mcmc_progress_watched());
  common_survivors_go_on(&run->survivors,
                         rg_bcast(run->world, &run->progress.wanted, 1, MPI_INT, 0), "rg_bcast");
  if (mcmc_delay_watched(run))
    mcmc_progress_start(&run->progress, run->plan.ranks);
  if (o->trace || o->chrome || o->spans)
    common_must(rg_timeline_create(&run->timeline), "rg_timeline_create");
  run->deaths.quiet = o->quiet;
  if (o->kill && !run->counts)
    common_must(common_deaths_prepare(&run->deaths, run->world), "rg_array_create_simple");
  mcmc_kernel_open(run);
  common_survivors_repeat(&run->survivors, load_walkers, run, "loading the checkpoint");
  mcmc_kernel_prepare(run);
  /* The one that starts the clock is not first. */
  common_survivors_go_on(&run->survivors, rg_barrier(run->world), "rg_barrier");
}

static void run_balancer(mcmc_run *run, const common_death_schedule *kills) {
  run->entered = rgp_now();
  common_survivors_go_on(&run->survivors, rg_barrier(run->world), "rg_barrier");
  run->began = run->ended = rgp_now();
  common_deaths_arm(&run->deaths, kills, run->rank, run->began);
  common_must(rg_balance_run(run->balancer), "rg_balance_run");
}

static void write_as(const mcmc_run *run, const char *path, rg_timeline_format format,
                     const rg_timeline_words *words) {
  if (path)
    common_must(rg_timeline_write(run->timeline, path, format, words), "rg_timeline_write");
}

static int is_page(const char *path) {
  const char *dot = path ? strrchr(path, '.') : NULL;
  return dot && strcmp(dot, ".html") == 0;
}

static void draw_timeline(const mcmc_run *run, const mcmc_result *result) {
  char title[160], interval[40] = "", subtitle[200];
  if (run->o.policy.interval > 0)
    snprintf(interval, sizeof interval, " every %d units", (int)run->o.policy.interval);
  snprintf(title, sizeof title, "MCMC kernel on %d ranks, balance %s%s: %.2f s", run->plan.ranks,
           run->o.balance, interval, result->seconds);
  snprintf(subtitle, sizeof subtitle,
           "without balancing %.2f s, ideal %.2f s, efficiency %.1f %%, %.2f regroupings per "
           "process; a frame is the life of a group",
           result->baseline, result->ideal, 100 * result->efficiency, result->mean);
  int deaths = run->deaths.count < COMMON_DEATHS ? run->deaths.count : COMMON_DEATHS;
  rg_timeline_death at[COMMON_DEATHS];
  for (int i = 0; i < deaths; i++)
    at[i] = (rg_timeline_death){.rank = run->deaths.death[i].rank,
                                .when = run->deaths.death[i].when - result->origin};
  rg_timeline_words words = {.size = sizeof words,
                             .title = title,
                             .subtitle = subtitle,
                             .seconds = result->seconds,
                             .ideal = result->ideal,
                             .deaths = deaths,
                             .death = at};
  write_as(run, run->o.trace, is_page(run->o.trace) ? RG_TIMELINE_HTML : RG_TIMELINE_SVG, &words);
  write_as(run, run->o.chrome, RG_TIMELINE_CHROME, &words);
  write_as(run, run->o.spans, RG_TIMELINE_JSON, &words);
}

/* Collective if a timeline was recorded. */
static void write_timeline(mcmc_run *run, const mcmc_result *result) {
  if (!run->timeline)
    return;
  common_must(rg_timeline_end(run->timeline, result->origin + result->seconds), "rg_timeline_end");
  common_must(rg_timeline_gather(run->timeline, run->survivors.group, result->origin, 0),
              "rg_timeline_gather");
  if (run->survivors.first)
    draw_timeline(run, result);
  common_must(rg_timeline_free(&run->timeline), "rg_timeline_free");
}

/* Checks that each sample was executed once (at least once after deaths, which make some be done
 * again) and each unit counted, and that the checksums are those of a run without deaths. */
static int check_complete(const mcmc_run *run, const mcmc_result *result) {
  int ranks;
  common_must(rg_group_size(run->survivors.group, &ranks), "rg_group_size");
  /* Ranks may have died after the work, with their counts. */
  int deaths = run->deaths.count > 0 || ranks < run->plan.ranks;
  int64_t samples = result->samples - mcmc_kernel_loaded(run);
  int good = result->executed == (uint64_t)samples || deaths;
  if (!good && run->survivors.first)
    fprintf(stderr, "regroup-mcmc: %llu samples were executed instead of %lld\n",
            (unsigned long long)result->executed, (long long)samples);
  if (!run->survivors.first)
    return good;
  if (result->visits != result->units) {
    fprintf(stderr, "regroup-mcmc: %lld visits were counted instead of %lld\n",
            (long long)result->visits, (long long)result->units);
    good = 0;
  }
  if (result->expected[0] != result->checksum || result->expected[1] != result->visits_checksum) {
    fprintf(stderr, "regroup-mcmc: without balancing the checksums are %016llx and %016llx\n",
            (unsigned long long)result->expected[0], (unsigned long long)result->expected[1]);
    good = 0;
  }
  return good;
}

/* --- the end; a rank may die meanwhile, and then the others do it again -------------------- */

typedef struct {
  mcmc_run *run;
  mcmc_result result;
  FILE *json;
} run_end;

static int collect_result(void *of) {
  run_end *end = of;
  return mcmc_result_collect(end->run, &end->result);
}

/* The first rank prints and writes. */
static int put_out(void *of) {
  run_end *end = of;
  const mcmc_run *run = end->run;
  int good = check_complete(run, &end->result);
  if (!run->survivors.first)
    return good;
  if (!end->json && run->o.json && !rgp_open(&mcmc_options_program, run->o.json, &end->json))
    return 0;
  good = rgp_write_json(&mcmc_options_program, run->o.json, end->json,
                        mcmc_result_json(run, &end->result)) &&
         good;
  if (!run->o.quiet)
    mcmc_result_print(run, &end->result);
  fflush(stdout);
  return good;
}

static int save_walkers(void *of) {
  run_end *end = of;
  return mcmc_kernel_save(end->run);
}

/* The run has ended early: another one is to continue it. */
static int save_run(mcmc_run *run, run_end *end) {
  common_survivors_save(&run->survivors, save_walkers, collect_result, end);
  if (run->survivors.first && !run->o.quiet)
    printf("saved in %s: %lld of %lld samples are left\n", run->o.checkpoint,
           (long long)end->result.left, (long long)end->result.samples);
  fflush(stdout);
  if (end->json)
    fclose(end->json);
  return RG_EXIT_REQUEUE;
}

static int end_run(mcmc_run *run, run_end *end) {
  common_survivors_repeat(&run->survivors, collect_result, end, "collecting the results");
  if (mcmc_delay_watched(run))
    mcmc_progress_end(&run->progress);
  if (end->result.left)
    return save_run(run, end);
  return common_survivors_finish(&run->survivors, put_out, collect_result, end) ? RGP_OK
                                                                                : RGP_FAILED;
}

static int do_run(mcmc_run *run, const common_death_schedule *kills, FILE *json) {
  set_up(run);
  run_balancer(run, kills);
  run_end end = {.run = run, .json = json};
  int status = end_run(run, &end);
  common_deaths_disarm();
  write_timeline(run, &end.result);
  common_must(rg_balance_free(&run->balancer), "rg_balance_free");
  rg_array_free(&run->deaths.when);
  common_saved_close(&run->saved);
  common_survivors_close(&run->survivors);
  common_must(rg_group_free(&run->world), "rg_group_free");
  return status;
}

/* Rank 0 opens the files before the work starts, to see whether they can be written. */
static int open_files(const mcmc_run *run, FILE **json) {
  const char *pictures[] = {run->o.trace, run->o.chrome, run->o.spans};
  int good = run->rank != 0 || rgp_open(&mcmc_options_program, run->o.json, json);
  for (int i = 0; i < 3 && run->rank == 0 && good; i++) {
    FILE *f = NULL;
    good = rgp_open(&mcmc_options_program, pictures[i], &f);
    if (f)
      fclose(f);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good;
}

int main(int argc, char **argv) {
  mcmc_run run = {0};
  common_death_schedule kills = {0};
  FILE *json = NULL;
  int status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  if (mcmc_options_read(argc, argv, run.rank, &run.o, &status)) {
    status = RGP_USAGE;
    double seconds = run.o.bound > 0 ? run.o.bound : 3.5 * run.o.scale;
    if (common_death_schedule_take(run.o.kill, run.rank, seconds, &kills) && make_plan(&run) &&
        open_files(&run, &json)) {
      run.counts = common_survivors_expected() && on_several_nodes();
      common_must(rg_init(MPI_COMM_WORLD, NULL), "rg_init");
      status = do_run(&run, &kills, json);
      common_must(rg_finalize(), "rg_finalize");
    }
  }
  mcmc_plan_free(&run.plan);
  MPI_Finalize();
  return status;
}
