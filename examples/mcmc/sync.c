/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>

#include "crew.h"
#include "lockstep.h"
#include "pace.h"
#include "policies.h"

/* Samples in the next `units` units of a list that is at walker w with `done` of
 * its samples done. */
static int64_t samples_ahead(const mcmc_plan *p, int64_t w, int64_t done, int64_t units) {
  int64_t sum = 0;
  for (; w < p->walkers && units > 0; w += p->groups, done = 0) {
    int64_t rest = mcmc_plan_samples(p, w) - done, most = (rest + p->unit - 1) / p->unit;
    sum += units < most ? units * p->unit : rest;
    units -= units < most ? units : most;
  }
  return sum;
}

/* The load of all ranks at the start: everybody knows it. */
static void first_load(const mcmc_run *run, mcmc_load load[]) {
  const mcmc_plan *p = &run->plan;
  for (int j = 0; j < p->groups; j++) {
    int first = mcmc_plan_first(p, j), end = first + mcmc_plan_size(p, j);
    mcmc_load l = {first, mcmc_plan_group_units(p, j), samples_ahead(p, j, 0, run->o.interval), 0};
    for (int r = first; r < end; r++)
      load[r] = l;
  }
}

/* All ranks tell their load. *due, when the round was due to end, becomes when the
 * last group's samples should have ended: a group that was formed in between is
 * later. Returns whether anything is left to do. */
static int exchange(mcmc_run *run, mcmc_load load[], double *due) {
  const mcmc_crew *c = &run->crew;
  double late = mcmc_crew_deadline(run) - *due;
  mcmc_load mine = {c->first, c->left,
                    samples_ahead(&run->plan, c->walker, c->done, run->o.interval),
                    late > 0 ? (int64_t)(late * 1e9) : 0};
  int64_t left = 0, latest = 0;
  mcmc_must(rg_allgather(run->world, &mine, 4, MPI_INT64_T, load, 4, MPI_INT64_T), "rg_allgather");
  for (int r = 0; r < run->plan.ranks; r++) {
    left |= load[r].left;
    latest = load[r].late > latest ? load[r].late : latest;
  }
  *due += (double)latest * 1e-9;
  return left != 0;
}

/* Here rank 0 knows all groups without being told. */
static void update_board(mcmc_run *run, const mcmc_load load[]) {
  for (int r = 0; run->board.wanted && run->rank == 0 && r < run->plan.ranks;) {
    mcmc_join join = mcmc_lockstep_join(run->plan.ranks, load, r);
    mcmc_notice n = {join.first, join.last - join.first + 1, load[join.last].left * run->plan.unit};
    mcmc_board_note(&run->board, &n);
    r = join.last + 1;
  }
}

static void do_round(mcmc_run *run, double end) {
  for (int i = 0; i < run->o.interval && run->crew.left > 0; i++)
    mcmc_crew_unit(run, 0);
  mcmc_crew_idle(run);
  /* Until the slowest group is due there is no need to poll for it. */
  if (!run->o.spin)
    mcmc_sleep_until(run, end);
}

void mcmc_run_sync(mcmc_run *run) {
  int ranks = run->plan.ranks;
  mcmc_load *load = malloc(sizeof *load * (size_t)ranks);
  mcmc_must(load ? RG_SUCCESS : RG_ERR_NOMEM, "mcmc_run_sync");
  first_load(run, load);
  for (double due = run->crew.base;;) {
    due += mcmc_lockstep_longest(ranks, load) * run->plan.sample;
    do_round(run, due);
    if (!exchange(run, load, &due))
      break;
    mcmc_join join = mcmc_lockstep_join(ranks, load, run->rank);
    if (join.changed)
      mcmc_crew_regroup(run, join.first, join.last, join.owner);
    else
      mcmc_crew_restart(run, due);
    update_board(run, load);
  }
  free(load);
}
