/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-posterior: gives the library's balancer walkers that sample (walker.h), runs it, and
 * brings the draws to the first rank. The draws of a unit are an outcome of their own, so that the
 * walker's state stays small and draws survive the ranks that made them. If a rank dies while the
 * draws are collected, the others do it again. */
#include <stdlib.h>
#include <string.h>

#include "../common/death.h"
#include "../common/saved.h"
#include "../common/survivors.h"
#include "report.h"

typedef struct {
  post_options options;
  rg_group world;
  common_survivors survivors;
  int rank;
  rg_balancer balancer;
  common_death_schedule kills;
  common_deaths deaths;
  common_saved saved; /* states of the walkers and, as numbers, their draws */
  post_draws draws;   /* of a unit; in the end all of them, on the first rank */
  int64_t left;       /* steps of walkers that have ended early */
  post_report report;
  rgp_progress line;
  FILE *json;
} post_run;

static int add_numbers(post_run *run, const double *numbers, int64_t count) {
  double *to = post_draws_add(&run->draws, count);
  if (to)
    memcpy(to, numbers, (size_t)count * sizeof *to);
  return to || count == 0 ? RG_SUCCESS : RG_ERR_NOMEM;
}

/* --- saving ---------------------------------------------------------------------------------- */

/* Of the options on which the draws depend. */
static uint64_t mark_options(const post_walker_setup *setup) {
  const int64_t all[] = {(int64_t)setup->seed, setup->walkers, setup->samples, setup->tune};
  uint64_t mark = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mark = mark * 6364136223846793005u + (uint64_t)all[i];
  for (const char *c = setup->model->name; *c; c++)
    mark = mark * 31 + (unsigned char)*c;
  return mark;
}

static post_walker_state *saved_state(const post_run *run, int64_t walker) {
  return (post_walker_state *)run->saved.states + walker;
}

static int load_saved(void *of) {
  post_run *run = of;
  return common_saved_load(&run->saved, run->survivors.group, NULL);
}

/* The walkers as they were saved, if they were. */
static void open_saved(post_run *run) {
  const post_walker_setup *setup = &run->options.setup;
  run->draws.length = 2 + POST_CHAINS * setup->model->parameters;
  run->saved = (common_saved){.path = run->options.checkpoint,
                              .mark = mark_options(setup),
                              .bytes = (size_t)setup->walkers * sizeof(post_walker_state),
                              .room = setup->walkers * setup->samples * run->draws.length};
  common_must(common_saved_open(&run->saved), "the checkpoint");
  if (run->options.checkpoint)
    common_survivors_repeat(&run->survivors, load_saved, run, "loading the checkpoint");
}

/* The draws of earlier runs, on the first rank. */
static int load_draws(post_run *run) {
  double *numbers = NULL;
  common_saved before = run->saved; /* the states are those of now */
  before.states = malloc(before.bytes);
  int error =
      before.states ? common_saved_load(&before, run->survivors.group, &numbers) : RG_ERR_NOMEM;
  if (!error && numbers)
    error = add_numbers(run, numbers, run->saved.used); /* this run may have saved, too */
  free(numbers);
  free(before.states);
  return error;
}

static int save_draws(void *of) {
  post_run *run = of;
  common_saved now = run->saved;
  now.used = run->draws.used;
  return common_saved_save(&now, run->survivors.group, run->draws.number);
}

/* --- the walkers for the balancer ------------------------------------------------------------- */

static double units_of(const post_run *run, int64_t steps) {
  return (double)((steps + run->options.unit - 1) / run->options.unit);
}

static int start_walker(rg_walker *walker, void *context) {
  post_run *run = context;
  *(post_walker_state *)walker->state = post_walker_start(&run->options.setup, walker->id);
  return RG_SUCCESS;
}

static int change_group(rg_walker *walker, rg_group group, void *context) {
  post_run *run = context;
  (void)group;
  if (!walker->begins)
    common_deaths_in_merge(&run->deaths, run->rank);
  return RG_SUCCESS;
}

static double units_left(const rg_walker *walker, void *context) {
  const post_run *run = context;
  return units_of(run, post_walker_left(&run->options.setup, walker->state));
}

/* The draws of a unit become an outcome. */
static int do_unit(rg_walker *walker, rg_group group, void *context) {
  post_run *run = context;
  double rest = units_left(walker, run);
  rgp_progress_show(&run->line, (double)walker->done / ((double)walker->done + rest), NULL);
  run->draws.used = 0;
  int error = post_walker_advance(group, &run->options.setup, walker->state, run->options.unit,
                                  &run->draws);
  rg_walker_new draws = {.size = sizeof draws,
                         .id = -1 - walker->id,
                         .ended = 1,
                         .state = run->draws.number,
                         .bytes = (size_t)run->draws.used * sizeof *run->draws.number};
  return error || run->draws.used == 0 ? error : rg_balance_add(run->balancer, &draws);
}

static void note_death(const rg_balance_death *death, void *context) {
  post_run *run = context;
  common_deaths_note(&run->deaths, run->world, run->rank, death);
}

static void add_walkers(post_run *run) {
  const post_walker_setup *setup = &run->options.setup;
  for (int64_t w = 0; w < setup->walkers; w++) {
    post_walker_state state = run->saved.found ? *saved_state(run, w) : post_walker_start(setup, w);
    rg_walker_new walker = {.size = sizeof walker,
                            .id = w,
                            .state = run->saved.found ? &state : NULL,
                            .bytes = sizeof state,
                            .left = units_of(run, post_walker_left(setup, &state))};
    common_must(rg_balance_add(run->balancer, &walker), "rg_balance_add");
  }
}

/* Runs the balancer. The draws do not depend on which ranks do which walker. */
static void run_balancer(post_run *run) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(post_walker_state),
                         .unit = do_unit,
                         .left = units_left,
                         .start = start_walker,
                         .changed = change_group,
                         .context = run};
  rg_balance_options options = {.size = sizeof options,
                                .policy = &run->options.policy,
                                .group = run->options.group,
                                .died = note_death,
                                .context = run,
                                .stop_when_due = run->options.checkpoint != NULL};
  common_must(rg_balance_create(run->world, &kind, &options, &run->balancer), "rg_balance_create");
  add_walkers(run);
  rgp_progress_start(&run->line, "sampling", run->options.quiet || run->rank != 0);
  common_survivors_go_on(&run->survivors, rg_barrier(run->world), "rg_barrier");
  double began = rgp_now();
  common_deaths_arm(&run->deaths, &run->kills, run->rank, began);
  common_must(rg_balance_run(run->balancer), "rg_balance_run");
  common_survivors_go_on(&run->survivors, rg_barrier(run->world), "rg_barrier");
  run->report.seconds = rgp_now() - began;
  rgp_progress_end(&run->line);
}

/* --- the result ------------------------------------------------------------------------------- */

static int take_outcome(post_run *run, const rg_balance_outcome *outcome) {
  const post_walker_state *state = outcome->state;
  if (outcome->id < 0)
    return add_numbers(run, outcome->state, (int64_t)(outcome->bytes / sizeof(double)));
  run->left += post_walker_left(&run->options.setup, state);
  if (run->options.checkpoint)
    *saved_state(run, outcome->id) = *state;
  run->report.tried += state->tried;
  run->report.accepted += state->accepted;
  return RG_SUCCESS;
}

/* Brings the draws to the first rank. All living ranks gather first: a step before it might fail on
 * some of them only, and the others would wait for these in it. */
static int collect_draws(void *of) {
  post_run *run = of;
  int64_t count = 0;
  int root;
  const rg_balance_outcome *ended;
  run->draws.used = run->report.tried = run->report.accepted = run->left = 0;
  int error = common_survivors_root(&run->survivors, run->world, &root);
  if (!error)
    error = rg_balance_gather(run->balancer, root);
  if (!error && run->saved.found)
    error = load_draws(run);
  if (!error)
    error = rg_balance_outcomes(run->balancer, &count, &ended);
  for (int64_t i = 0; run->survivors.first && !error && i < count; i++)
    error = take_outcome(run, &ended[i]);
  return error ? error : rg_bcast(run->survivors.group, &run->left, 1, MPI_INT64_T, 0);
}

static void work_out(post_run *run) {
  const post_walker_setup *setup = &run->options.setup;
  post_report *report = &run->report;
  common_must(post_draws_sort(&run->draws, setup->walkers, setup->samples), "post_draws_sort");
  report->checksum = post_draws_checksum(&run->draws);
  report->deaths = run->deaths.count;
  report->lost = run->deaths.lost;
  int good = post_estimate_lines(&run->draws, setup->model, setup->samples, report->line);
  common_must(good ? RG_SUCCESS : RG_ERR_NOMEM, "post_estimate_lines");
  report->missed = post_estimate_check(report->line, setup->model->parameters,
                                       run->options.check ? stderr : NULL);
}

/* The first rank writes: that of the world, which has the file open, or that of the survivors. */
static int put_out(void *of) {
  post_run *run = of;
  if (!run->survivors.first)
    return 1;
  if (run->rank != 0 && !rgp_open(&post_options_program, run->options.json, &run->json))
    return 0;
  work_out(run);
  int good = rgp_write_json(&post_options_program, run->options.json, run->json,
                            post_report_json(&run->options, &run->report));
  if (!run->options.quiet)
    post_report_print(&run->options, &run->report);
  fflush(stdout);
  return good && !(run->options.check && run->report.missed);
}

/* If the run has ended early, another one is to continue it. */
static int end_run(post_run *run) {
  common_survivors_repeat(&run->survivors, collect_draws, run, "collecting the draws");
  if (!run->left)
    return common_survivors_finish(&run->survivors, put_out, collect_draws, run) ? RGP_OK
                                                                                 : RGP_FAILED;
  common_survivors_save(&run->survivors, save_draws, collect_draws, run);
  if (run->survivors.first && !run->options.quiet)
    printf("saved in %s: %lld steps are left\n", run->options.checkpoint, (long long)run->left);
  fflush(stdout);
  return RG_EXIT_REQUEUE;
}

static int do_run(post_run *run) {
  common_must(rg_group_world(&run->world), "rg_group_world");
  common_must(rg_group_size(run->world, &run->report.ranks), "rg_group_size");
  common_survivors_open(&run->survivors);
  run->deaths.quiet = run->options.quiet;
  open_saved(run);
  run_balancer(run);
  int status = end_run(run);
  common_deaths_disarm();
  post_draws_free(&run->draws);
  common_saved_close(&run->saved);
  common_must(rg_balance_free(&run->balancer), "rg_balance_free");
  common_survivors_close(&run->survivors);
  common_must(rg_group_free(&run->world), "rg_group_free");
  return status;
}

int main(int argc, char **argv) {
  post_run run = {.rank = 0};
  int status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  if (post_options_read(argc, argv, run.rank, &run.options, &status)) {
    /* Rank 0 opens the result file before the work starts. */
    int good = run.rank != 0 || rgp_open(&post_options_program, run.options.json, &run.json);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    status = RGP_USAGE;
    if (common_death_schedule_take(run.options.kill, run.rank, 1, &run.kills) && good) {
      common_must(rg_init(MPI_COMM_WORLD, NULL), "rg_init");
      status = do_run(&run);
      common_must(rg_finalize(), "rg_finalize");
    }
  }
  MPI_Finalize();
  return status;
}
