/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gives the library's balancer walkers that sample (chain/walker.h), runs it, and brings the draws
 * to the first rank. The draws of a unit are an outcome of their own, so that the walker's state
 * stays small and draws survive the ranks that made them. If a rank dies while the draws are
 * collected, the others do it again. */
#include "posterior.h"

#include <stdlib.h>
#include <string.h>

#include "../run.h"
#include "report.h"

typedef struct {
  post_options o;
  rg_group world;
  mcmc_survivors survivors;
  int rank, ranks;
  rg_balancer balancer;
  mcmc_death_schedule kills;
  mcmc_deaths deaths;
  mcmc_saved saved;        /* states of the walkers and, as numbers, their draws */
  post_draws draws;        /* of a unit; in the end all of them, on the first rank */
  int64_t tried, accepted; /* by all walkers, on the first rank */
  int64_t left;            /* steps of walkers that have ended early */
  double seconds;
  rgp_progress line;
} post_run;

int post_wanted(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--model") == 0 || strncmp(argv[i], "--model=", 8) == 0)
      return 1;
  return 0;
}

static int add_numbers(post_run *run, const double *numbers, int64_t n) {
  double *to = post_draws_add(&run->draws, n);
  if (to)
    memcpy(to, numbers, (size_t)n * sizeof *to);
  return to || n == 0 ? RG_SUCCESS : RG_ERR_NOMEM;
}

static void set_up(post_run *run) {
  post_walker_setup *s = &run->o.setup;
  mcmc_run_must(rg_group_world(&run->world), "rg_group_world");
  mcmc_run_must(rg_group_size(run->world, &run->ranks), "rg_group_size");
  mcmc_survivors_open(&run->survivors);
  run->deaths.quiet = run->o.quiet;
  s->model = calloc((size_t)s->walkers, sizeof *s->model);
  mcmc_run_must(s->model ? RG_SUCCESS : RG_ERR_NOMEM, "setting up");
}

/* --- saving --------------------------------------------------------------------------- */

/* Of the options on which the draws depend. */
static uint64_t mark_options(const post_walker_setup *s) {
  const int64_t all[] = {(int64_t)s->seed, s->walkers, s->samples,       s->thin,
                         s->tune,          s->scale,   s->kind->samples, s->sampler};
  uint64_t mark = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mark = mark * 6364136223846793005u + (uint64_t)all[i];
  for (const char *c = s->kind->name; *c; c++)
    mark = mark * 31 + (unsigned char)*c;
  return mark;
}

static post_walker_state *saved_states(const post_run *run) {
  return (post_walker_state *)run->saved.states;
}

/* The walkers as they were saved, if they were. */
static void open_saved(post_run *run) {
  post_walker_setup *s = &run->o.setup;
  const post_model *m;
  mcmc_run_must(post_walker_model(s, 0, &m), "post_walker_model");
  run->saved = (mcmc_saved){.path = run->o.checkpoint,
                            .mark = mark_options(s),
                            .bytes = (size_t)s->walkers * sizeof(post_walker_state),
                            .room = s->walkers * s->samples * (2 + POST_CHAINS * m->quantities)};
  mcmc_run_must(mcmc_saved_open(&run->saved), "the checkpoint");
  while (run->o.checkpoint &&
         !mcmc_survivors_settled(&run->survivors,
                                 mcmc_saved_load(&run->saved, run->survivors.g, NULL),
                                 "loading the checkpoint"))
    ;
}

/* The draws of earlier runs, on the first rank. */
static int load_draws(post_run *run) {
  double *numbers = NULL;
  mcmc_saved before = run->saved; /* the states are those of now */
  if (!run->saved.found)
    return RG_SUCCESS;
  before.states = malloc(before.bytes);
  int error = before.states ? mcmc_saved_load(&before, run->survivors.g, &numbers) : RG_ERR_NOMEM;
  if (!error && numbers)
    error = add_numbers(run, numbers, before.used);
  free(numbers);
  free(before.states);
  return error;
}

/* --- the walkers for the balancer ------------------------------------------------------- */

static double units_of(const post_run *run, int64_t steps) {
  return (double)((steps + run->o.unit - 1) / run->o.unit);
}

static int start_walker(rg_walker *w, void *context) {
  post_run *run = context;
  return post_walker_start(&run->o.setup, w->id, w->state);
}

static int change_group(rg_walker *w, rg_group g, void *context) {
  post_run *run = context;
  (void)g;
  if (!w->begins)
    mcmc_deaths_in_merge(&run->deaths, run->rank);
  return RG_SUCCESS;
}

static double units_left(const rg_walker *w, void *context) {
  const post_run *run = context;
  return units_of(run, post_walker_left(&run->o.setup, w->state));
}

/* Adds the draws of a unit as an outcome. */
static int hand_over(post_run *run, int64_t walker) {
  rg_walker_new draws = {.size = sizeof draws,
                         .id = -1 - walker,
                         .ended = 1,
                         .state = run->draws.record,
                         .bytes = (size_t)run->draws.used * sizeof *run->draws.record};
  return rg_balance_add(run->balancer, &draws);
}

static int do_unit(rg_walker *w, rg_group g, void *context) {
  post_run *run = context;
  double rest = units_left(w, run);
  rgp_progress_show(&run->line, (double)w->done / ((double)w->done + rest), NULL);
  run->draws.used = 0;
  int error = post_walker_advance(g, &run->o.setup, w->state, run->o.unit, &run->draws);
  return error || run->draws.used == 0 ? error : hand_over(run, w->id);
}

static void note_death(const rg_balance_death *death, void *context) {
  post_run *run = context;
  mcmc_deaths_note(&run->deaths, run->world, run->rank, death);
}

static void add_walkers(post_run *run) {
  post_walker_setup *s = &run->o.setup;
  for (int64_t w = 0; w < s->walkers; w++) {
    post_walker_state state;
    mcmc_run_must(post_walker_start(s, w, &state), "post_walker_start");
    if (run->saved.found)
      state = saved_states(run)[w];
    rg_walker_new walker = {.size = sizeof walker,
                            .id = w,
                            .state = run->saved.found ? &state : NULL,
                            .bytes = sizeof state,
                            .left = units_of(run, post_walker_left(s, &state)) *
                                    post_walker_weight(s, w)};
    mcmc_run_must(rg_balance_add(run->balancer, &walker), "rg_balance_add");
  }
}

static void prepare_balancer(post_run *run) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(post_walker_state),
                         .unit = do_unit,
                         .left = units_left,
                         .start = start_walker,
                         .changed = change_group,
                         .context = run};
  rg_balance_options options = {.size = sizeof options,
                                .policy = &run->o.policy,
                                .group = run->o.group,
                                .died = note_death,
                                .context = run,
                                .stop_when_due = run->o.checkpoint != NULL};
  mcmc_run_must(rg_balance_create(run->world, &kind, &options, &run->balancer),
                "rg_balance_create");
  add_walkers(run);
}

/* Runs the balancer. The draws do not depend on which ranks do which walker. */
static void run_balancer(post_run *run) {
  prepare_balancer(run);
  rgp_progress_start(&run->line, "sampling", run->o.quiet || run->rank != 0);
  mcmc_survivors_go_on(&run->survivors, rg_barrier(run->world), "rg_barrier");
  double began = rgp_now();
  mcmc_deaths_arm(&run->deaths, &run->kills, run->rank, began);
  mcmc_run_must(rg_balance_run(run->balancer), "rg_balance_run");
  mcmc_survivors_go_on(&run->survivors, rg_barrier(run->world), "rg_barrier");
  run->seconds = rgp_now() - began;
  rgp_progress_end(&run->line);
}

/* Takes results and draws from the outcomes, on the first rank. All living ranks gather first: a
 * step before it might fail on some of them only, and the others would wait for these in it. */
static int take_outcomes(post_run *run) {
  int64_t count;
  int root;
  const rg_balance_outcome *ended;
  run->draws.used = run->tried = run->accepted = run->left = 0;
  int error = mcmc_survivors_root(&run->survivors, run->world, &root);
  if (!error)
    error = rg_balance_gather(run->balancer, root);
  if (!error)
    error = load_draws(run);
  if (!error)
    error = rg_balance_outcomes(run->balancer, &count, &ended);
  for (int64_t i = 0; run->survivors.first && !error && i < count; i++) {
    const post_walker_state *state = ended[i].state;
    if (ended[i].id < 0) {
      error = add_numbers(run, ended[i].state, (int64_t)(ended[i].bytes / sizeof(double)));
    } else {
      run->left += post_walker_left(&run->o.setup, state);
      if (run->o.checkpoint)
        saved_states(run)[ended[i].id] = *state;
      run->tried += state->tried;
      run->accepted += state->accepted;
    }
  }
  return error;
}

/* Puts all draws together on the first rank and works out the result. */
static int collect_draws(post_run *run, post_report_result *r) {
  post_walker_setup *s = &run->o.setup;
  const post_model *m;
  int error = take_outcomes(run);
  int64_t sums[3] = {run->tried, run->accepted, run->left};
  if (error || (error = post_walker_model(s, 0, &m)) ||
      (error = rg_allreduce(run->survivors.g, MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM)))
    return error;
  run->left = sums[2];
  *r = (post_report_result){.ranks = run->ranks,
                            .seconds = run->seconds,
                            .deaths = run->deaths.count,
                            .lost = run->deaths.lost,
                            .tried = sums[0],
                            .accepted = sums[1],
                            .draws = {.quantities = m->quantities,
                                      .chains = s->walkers * POST_CHAINS,
                                      .samples = s->samples}};
  return run->left ? RG_SUCCESS
                   : post_draws_gather(run->survivors.g, &run->draws, POST_CHAINS, &r->draws);
}

static void collect_until_settled(post_run *run, post_report_result *r) {
  const post_walker_setup *s = &run->o.setup;
  *r = (post_report_result){0};
  for (;;) {
    int error = collect_draws(run, r);
    if (mcmc_survivors_settled(&run->survivors, error, "collecting the draws"))
      break;
    free(r->draws.value);
    r->draws.value = NULL;
  }
  if (!run->survivors.first || run->left)
    return;
  r->checksum = post_draws_table_checksum(&r->draws);
  const post_model *m;
  mcmc_run_must(post_walker_model(&run->o.setup, 0, &m), "post_walker_model");
  int good = post_summary_make(&r->draws, m, s->kind->labels, r->line);
  mcmc_run_must(good ? RG_SUCCESS : RG_ERR_NOMEM, "post_summary_make");
  r->missed = post_summary_check(r->line, r->draws.quantities, run->o.check ? stderr : NULL);
}

static void free_run(post_run *run) {
  post_walker_setup *s = &run->o.setup;
  for (int64_t w = 0; w < s->walkers; w++)
    post_model_free(s->model[w]);
  free(s->model);
  post_draws_free(&run->draws);
  mcmc_saved_close(&run->saved);
  mcmc_run_must(rg_balance_free(&run->balancer), "rg_balance_free");
  mcmc_survivors_close(&run->survivors);
  mcmc_run_must(rg_group_free(&run->world), "rg_group_free");
}

/* The first rank writes: that of the world, which has the files open, or that of the survivors. */
static int put_out(const post_run *run, post_report_result *r, FILE *json, FILE *draws) {
  if (!run->survivors.first)
    return 1;
  if (run->rank != 0 && (!rgp_open(&post_options_program, run->o.json, &json) ||
                         !rgp_open(&post_options_program, run->o.draws, &draws)))
    return 0;
  int good = post_report_files(&run->o, r, draws);
  good = rgp_write_json(&post_options_program, run->o.json, json, post_report_json(&run->o, r)) &&
         good;
  if (!run->o.quiet)
    post_report_print(&run->o, r);
  fflush(stdout);
  free(r->draws.value);
  r->draws.value = NULL;
  return good && !(run->o.check && r->missed);
}

/* Gives all ranks what the first one has found. */
static int share_view(const post_run *run, int good) {
  unsigned word = (unsigned)good;
  if (run->survivors.survives)
    mcmc_run_must(rg_group_agree(run->survivors.g, &word, NULL), "rg_group_agree");
  else
    mcmc_run_must(rg_bcast(run->world, &word, 1, MPI_UNSIGNED, 0), "rg_bcast");
  return (int)word;
}

static int save_draws(post_run *run) {
  run->saved.used = run->draws.used;
  return mcmc_saved_save(&run->saved, run->survivors.g, run->draws.record);
}

/* The run has ended early: another one is to continue it. */
static int save_run(post_run *run, post_report_result *r) {
  while (!mcmc_survivors_settled(&run->survivors, save_draws(run), "saving"))
    collect_until_settled(run, r);
  if (run->survivors.first && !run->o.quiet)
    printf("saved in %s: %lld steps are left\n", run->o.checkpoint, (long long)run->left);
  fflush(stdout);
  return RG_EXIT_REQUEUE;
}

static int finish_run(post_run *run, post_report_result *r, FILE *json, FILE *draws) {
  int good = put_out(run, r, json, draws);
  while (mcmc_survivors_lost_first(&run->survivors)) {
    collect_until_settled(run, r);
    good = put_out(run, r, json, draws);
  }
  return share_view(run, good) ? RGP_OK : RGP_FAILED;
}

/* Collective. */
static int do_run(post_run *run, FILE *json, FILE *draws) {
  post_report_result r;
  set_up(run);
  open_saved(run);
  run_balancer(run);
  collect_until_settled(run, &r);
  int status = run->left ? save_run(run, &r) : finish_run(run, &r, json, draws);
  mcmc_deaths_disarm();
  free_run(run);
  return status;
}

/* Rank 0 opens the result files before the work starts. */
static int open_files(const post_run *run, FILE **json, FILE **draws) {
  FILE *plot = NULL;
  int good = run->rank != 0 || (rgp_open(&post_options_program, run->o.json, json) &&
                                rgp_open(&post_options_program, run->o.draws, draws) &&
                                rgp_open(&post_options_program, run->o.plot, &plot));
  if (plot)
    fclose(plot);
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good;
}

int post_main(int argc, char **argv, int rank) {
  post_run run = {.rank = rank};
  FILE *json = NULL, *draws = NULL;
  int status;
  if (!post_options_read(argc, argv, rank, &run.o, &status))
    return status;
  if (!mcmc_death_schedule_take(run.o.kill, rank, 1, &run.kills) ||
      !open_files(&run, &json, &draws))
    return RGP_USAGE;
  mcmc_run_must(rg_init(MPI_COMM_WORLD, NULL), "rg_init");
  status = do_run(&run, json, draws);
  mcmc_run_must(rg_finalize(), "rg_finalize");
  return status;
}
