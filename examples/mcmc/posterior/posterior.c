/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "posterior.h"

#include <stdlib.h>
#include <string.h>

#include "../run.h"
#include "report.h"

typedef struct {
  post_options o;
  rg_group world;
  int rank, ranks;
  post_draws draws;
  int64_t tried, accepted; /* in the walkers of which this rank was the first member */
  double seconds;
  rgp_progress line;
} post_run;

int post_wanted(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--model") == 0 || strncmp(argv[i], "--model=", 8) == 0)
      return 1;
  return 0;
}

static void set_up(post_run *run) {
  post_setup *s = &run->o.setup;
  mcmc_must(rg_group_world(&run->world), "rg_group_world");
  mcmc_must(rg_group_size(run->world, &run->ranks), "rg_group_size");
  s->model = calloc((size_t)s->walkers, sizeof *s->model);
  mcmc_must(s->model ? RG_SUCCESS : RG_ERR_NOMEM, "setting up");
}

/* --- what the balancer asks for ------------------------------------------------------- */

static double units(const post_run *run, int64_t steps) {
  return (double)((steps + run->o.unit - 1) / run->o.unit);
}

static int start(rg_walker *w, void *context) {
  post_run *run = context;
  return post_walker_start(&run->o.setup, w->id, w->state);
}

static double left(const rg_walker *w, void *context) {
  const post_run *run = context;
  return units(run, post_walker_left(&run->o.setup, w->state));
}

static int unit(rg_walker *w, rg_group g, void *context) {
  post_run *run = context;
  double rest = left(w, run);
  rgp_progress_show(&run->line, (double)w->done / ((double)w->done + rest), NULL);
  return post_walker_advance(g, &run->o.setup, w->state, run->o.unit, &run->draws);
}

static int finished(rg_walker *w, rg_group g, void *context) {
  post_run *run = context;
  const post_state *state = w->state;
  int member, error = rg_group_rank(g, &member);
  if (!error && member == 0) {
    run->tried += state->tried;
    run->accepted += state->accepted;
  }
  return error;
}

static void add_walkers(post_run *run, rg_balancer b) {
  post_setup *s = &run->o.setup;
  for (int64_t w = 0; w < s->walkers; w++) {
    post_state state;
    mcmc_must(post_walker_start(s, w, &state), "post_walker_start");
    rg_walker_new walker = {
        .id = w, .left = units(run, post_walker_left(s, &state)) * post_walker_weight(s, w)};
    mcmc_must(rg_balance_add(b, &walker), "rg_balance_add");
  }
}

/* Draws are the same whoever does which walker with whom. */
static void work(post_run *run) {
  rg_walker_kind kind = {.bytes = sizeof(post_state),
                         .unit = unit,
                         .left = left,
                         .start = start,
                         .finished = finished,
                         .context = run};
  rg_balance_options options = {.policy = &run->o.policy, .group = run->o.group};
  rg_balancer b;
  mcmc_must(rg_balance_create(run->world, &kind, &options, &b), "rg_balance_create");
  add_walkers(run, b);
  rgp_progress_start(&run->line, "sampling", run->o.quiet || run->rank != 0);
  mcmc_must(rg_barrier(run->world), "rg_barrier");
  double began = rgp_now();
  mcmc_must(rg_balance_run(b), "rg_balance_run");
  mcmc_must(rg_barrier(run->world), "rg_barrier");
  run->seconds = rgp_now() - began;
  rgp_progress_end(&run->line);
  mcmc_must(rg_balance_free(&b), "rg_balance_free");
}

/* All draws on rank 0, and what they tell. */
static void collect(post_run *run, post_result *r) {
  post_setup *s = &run->o.setup;
  const post_model *m;
  int64_t sums[2] = {run->tried, run->accepted};
  mcmc_must(post_walker_model(s, 0, &m), "post_walker_model");
  mcmc_must(rg_allreduce(run->world, MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM), "rg_allreduce");
  *r = (post_result){.ranks = run->ranks,
                     .seconds = run->seconds,
                     .tried = sums[0],
                     .accepted = sums[1],
                     .draws = {.quantities = m->quantities,
                               .chains = s->walkers * POST_CHAINS,
                               .samples = s->samples}};
  mcmc_must(post_draws_gather(run->world, &run->draws, POST_CHAINS, &r->draws),
            "post_draws_gather");
  if (run->rank != 0)
    return;
  r->checksum = post_table_checksum(&r->draws);
  int good = post_summarise(&r->draws, m, s->kind->labels, r->line);
  mcmc_must(good ? RG_SUCCESS : RG_ERR_NOMEM, "post_summarise");
  r->missed = post_check(r->line, r->draws.quantities, run->o.check ? stderr : NULL);
}

static void leave(post_run *run) {
  post_setup *s = &run->o.setup;
  for (int64_t w = 0; w < s->walkers; w++)
    post_model_free(s->model[w]);
  free(s->model);
  post_draws_free(&run->draws);
  mcmc_must(rg_group_free(&run->world), "rg_group_free");
}

/* Collective; rank 0's view of the matter is everybody's. */
static int do_run(post_run *run, FILE *json, FILE *draws) {
  post_result r;
  int good = 1;
  set_up(run);
  work(run);
  collect(run, &r);
  if (run->rank == 0) {
    good = post_report_files(&run->o, &r, draws);
    good = rgp_write_json(&post_program, run->o.json, json, post_report_json(&run->o, &r)) && good;
    if (!run->o.quiet)
      post_report_print(&run->o, &r);
    good = good && !(run->o.check && r.missed);
    free(r.draws.value);
  }
  mcmc_must(rg_bcast(run->world, &good, 1, MPI_INT, 0), "rg_bcast");
  leave(run);
  return good ? RGP_OK : RGP_FAILED;
}

/* Rank 0 opens the result files before the work starts. */
static int open_files(const post_run *run, FILE **json, FILE **draws) {
  FILE *plot = NULL;
  int good = run->rank != 0 || (rgp_open(&post_program, run->o.json, json) &&
                                rgp_open(&post_program, run->o.draws, draws) &&
                                rgp_open(&post_program, run->o.plot, &plot));
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
  if (!open_files(&run, &json, &draws))
    return RGP_USAGE;
  mcmc_must(rg_init(MPI_COMM_WORLD, NULL), "rg_init");
  status = do_run(&run, json, draws);
  mcmc_must(rg_finalize(), "rg_finalize");
  return status;
}
