/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "kernel.h"

#include "pace.h"

typedef struct {
  mcmc_state position;
  int64_t done, samples;
} state;

static int start(rg_walker *w, void *context) {
  const mcmc_run *run = context;
  state *s = w->state;
  s->position = mcmc_start(run->o.seed, (uint64_t)w->id);
  s->samples = mcmc_plan_samples(&run->plan, w->id / run->plan.key_step);
  return RG_SUCCESS;
}

static double left(const rg_walker *w, void *context) {
  const mcmc_run *run = context;
  const state *s = w->state;
  return (double)((s->samples - s->done + run->plan.unit - 1) / run->plan.unit);
}

/* A new group: its deadlines start anew. */
static int changed(rg_walker *w, rg_group g, void *context) {
  mcmc_run *run = context;
  (void)w;
  run->base = rgp_now();
  run->worked = 0;
  int error = rg_group_rank(g, &run->member);
  return error ? error : rg_group_size(g, &run->members);
}

/* The rank's own share of `count` samples, and the time that it takes: until a deadline
 * that follows from when the group started, so that being late once does not add up. What
 * the group has waited for others is no time for samples. */
static mcmc_state do_share(mcmc_run *run, const rg_walker *w, int64_t count) {
  const state *s = w->state;
  double from = mcmc_processor_time();
  int64_t first = s->done + run->member, end = s->done + count;
  mcmc_state moved = mcmc_steps(run->o.seed, (uint64_t)w->id, first, end, run->members);
  if (first < end)
    run->executed += (uint64_t)((end - first - 1) / run->members + 1);
  run->worked += count;
  if (run->o.spin)
    mcmc_spin(run, from, (double)count * run->plan.sample / run->members);
  else
    mcmc_sleep_until(run,
                     run->base + w->waited + (double)run->worked * run->plan.sample / run->members);
  return moved;
}

static int unit(rg_walker *w, rg_group g, void *context) {
  mcmc_run *run = context;
  state *s = w->state;
  int64_t rest = s->samples - s->done, count = rest < run->plan.unit ? rest : run->plan.unit;
  mcmc_state moved = do_share(run, w, count);
  uint64_t sum[2] = {moved.x, moved.y};
  int error = rg_allreduce(g, MPI_IN_PLACE, sum, 2, MPI_UINT64_T, MPI_SUM);
  s->position.x += sum[0];
  s->position.y += sum[1];
  s->done += count;
  return error;
}

static int finished(rg_walker *w, rg_group g, void *context) {
  mcmc_run *run = context;
  const state *s = w->state;
  (void)g;
  run->ended = rgp_now();
  if (run->member == 0)
    run->checksum += mcmc_fingerprint((uint64_t)w->id, s->position);
  return RG_SUCCESS;
}

static void waiting(void *context) {
  mcmc_look(context);
}

void mcmc_kernel_prepare(mcmc_run *run) {
  const mcmc_plan *p = &run->plan;
  rg_walker_kind kind = {.bytes = sizeof(state),
                         .unit = unit,
                         .left = left,
                         .start = start,
                         .changed = changed,
                         .finished = finished,
                         .alike = 1,
                         .context = run};
  rg_balance_options options = {.policy = &run->o.policy,
                                .group = p->group,
                                .timeline = run->timeline,
                                .waiting = mcmc_watches(run) ? waiting : NULL,
                                .context = run};
  mcmc_must(rg_balance_create(run->world, &kind, &options, &run->balancer), "rg_balance_create");
  for (int64_t w = 0; w < p->walkers; w++) {
    rg_walker_new walker = {.id = mcmc_plan_key(p, w),
                            .left = (double)mcmc_plan_units(p, w),
                            .unit = p->sample * (double)p->unit};
    mcmc_must(rg_balance_add(run->balancer, &walker), "rg_balance_add");
  }
}
