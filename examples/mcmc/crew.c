/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "crew.h"

#include "pace.h"

enum { GROUP_TAG = 1, TO_JOIN = 1 };

static void mark(mcmc_run *run, rgi_span_kind kind) {
  const mcmc_crew *c = &run->crew;
  rgi_span span = {.kind = kind, .first = c->first, .size = c->size, .formation = run->formations};
  if (kind == RGI_SPAN_WORK)
    span.key = mcmc_plan_key(&run->plan, c->walker);
  rgi_timeline_mark(&run->timeline, rgp_now(), span);
}

void mcmc_crew_idle(mcmc_run *run) {
  mark(run, RGI_SPAN_IDLE);
}

void mcmc_crew_restart(mcmc_run *run, double when) {
  run->crew.base = when;
  run->crew.worked = 0;
}

double mcmc_crew_deadline(const mcmc_run *run) {
  const mcmc_crew *c = &run->crew;
  return c->base + (double)c->worked * run->plan.sample / c->size;
}

/* Goes to the next walker that has samples, if the one it is at is done. */
static void next_walker(mcmc_run *run) {
  mcmc_crew *c = &run->crew;
  const mcmc_plan *p = &run->plan;
  while (c->walker < p->walkers && c->done == mcmc_plan_samples(p, c->walker)) {
    if (c->rank == 0)
      run->checksum += mcmc_fingerprint((uint64_t)mcmc_plan_key(p, c->walker), c->state);
    c->walker += p->groups;
    c->done = 0;
    c->state = mcmc_start(run->o.seed, (uint64_t)mcmc_plan_key(p, c->walker));
    run->ended = rgp_now();
  }
}

/* Takes up the group's new handle; the old one is given up. */
static void take_up(mcmc_run *run, rg_group group) {
  mcmc_crew *c = &run->crew;
  mcmc_must(rg_group_free(&c->group), "rg_group_free");
  c->group = group;
  mcmc_must(rg_group_leader(group, &c->first), "rg_group_leader");
  mcmc_must(rg_group_size(group, &c->size), "rg_group_size");
  mcmc_must(rg_group_rank(group, &c->rank), "rg_group_rank");
}

/* All members learn from rank `root` of the group what the work is. */
static void hand_over(mcmc_run *run, int root) {
  mcmc_crew *c = &run->crew;
  int64_t work[] = {c->walker, c->done, c->left, (int64_t)c->state.x, (int64_t)c->state.y};
  mcmc_must(rg_bcast(c->group, work, 5, MPI_INT64_T, root), "rg_bcast");
  c->walker = work[0];
  c->done = work[1];
  c->left = work[2];
  c->state = (mcmc_state){(uint64_t)work[3], (uint64_t)work[4]};
  run->formations++;
  mcmc_crew_restart(run, rgp_now());
  mcmc_tell(run);
}

void mcmc_crew_form(mcmc_run *run) {
  mcmc_crew *c = &run->crew;
  const mcmc_plan *p = &run->plan;
  int j = run->rank / p->group, first = mcmc_plan_first(p, j);
  rg_group group;
  c->first = first;
  c->size = mcmc_plan_size(p, j);
  mark(run, RGI_SPAN_REGROUP);
  mcmc_must(rg_group_create_range(run->world, first, first + c->size - 1, 1, GROUP_TAG, &group),
            "rg_group_create_range");
  take_up(run, group);
  run->formations = 1;
  c->walker = j;
  c->left = mcmc_plan_group_units(p, j);
  c->state = mcmc_start(run->o.seed, (uint64_t)mcmc_plan_key(p, j));
  mcmc_crew_restart(run, rgp_now());
  next_walker(run);
}

void mcmc_crew_merge(mcmc_run *run, int leader, int side) {
  mcmc_crew *c = &run->crew;
  int root = side == MCMC_LEFT ? c->first - leader : c->size;
  rg_group merged;
  mark(run, RGI_SPAN_REGROUP);
  mcmc_must(rg_group_merge(c->group, run->world, leader, side == MCMC_LEFT, GROUP_TAG, &merged),
            "rg_group_merge");
  take_up(run, merged);
  hand_over(run, root);
}

void mcmc_crew_regroup(mcmc_run *run, int first, int last, int owner) {
  rg_group group;
  mark(run, RGI_SPAN_REGROUP);
  mcmc_must(rg_group_create_range(run->world, first, last, 1, GROUP_TAG, &group),
            "rg_group_create_range");
  take_up(run, group);
  hand_over(run, owner - first);
}

/* The leader of a group that wants to join, told that it may; or -1. A group
 * whose work is at its end wants to join others itself. */
static int find_joiner(mcmc_run *run) {
  int found = 0, answer = TO_JOIN;
  rg_status status;
  if (run->crew.rank == 0 && run->crew.left > 1)
    mcmc_must(rg_iprobe(run->world, RG_ANY_SOURCE, MCMC_REQUEST, &found, &status), "rg_iprobe");
  if (!found)
    return -1;
  mcmc_must(rg_recv(run->world, NULL, 0, MPI_INT, status.source, MCMC_REQUEST, NULL), "rg_recv");
  mcmc_must(rg_send(run->world, &answer, 1, MPI_INT, status.source, MCMC_ANSWER), "rg_send");
  return status.source;
}

/* The rank's own share of `count` samples, and the time that it takes: until a
 * deadline that follows from when the group started, so that being late once
 * does not add up. */
static mcmc_state do_share(mcmc_run *run, int64_t count) {
  mcmc_crew *c = &run->crew;
  double from = mcmc_processor_time();
  int64_t first = c->done + c->rank, end = c->done + count;
  mcmc_state moved =
      mcmc_steps(run->o.seed, (uint64_t)mcmc_plan_key(&run->plan, c->walker), first, end, c->size);
  if (first < end)
    run->executed += (uint64_t)((end - first - 1) / c->size + 1);
  c->worked += count;
  if (run->o.spin)
    mcmc_spin(run, from, (double)count * run->plan.sample / c->size);
  else
    mcmc_sleep_until(run, mcmc_crew_deadline(run));
  return moved;
}

int mcmc_crew_unit(mcmc_run *run, int listen) {
  mcmc_crew *c = &run->crew;
  int64_t rest = mcmc_plan_samples(&run->plan, c->walker) - c->done;
  int64_t count = rest < run->plan.unit ? rest : run->plan.unit;
  mark(run, RGI_SPAN_WORK);
  mcmc_state moved = do_share(run, count);
  uint64_t sum[3] = {moved.x, moved.y, 0};
  if (listen)
    sum[2] = (uint64_t)(find_joiner(run) + 1);
  mcmc_must(rg_allreduce(c->group, MPI_IN_PLACE, sum, 3, MPI_UINT64_T, MPI_SUM), "rg_allreduce");
  c->state.x += sum[0];
  c->state.y += sum[1];
  c->done += count;
  c->left--;
  next_walker(run);
  return (int)sum[2] - 1;
}

void mcmc_crew_leave(mcmc_run *run) {
  mcmc_must(rg_group_free(&run->crew.group), "rg_group_free");
}
