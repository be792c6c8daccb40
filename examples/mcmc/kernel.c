/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each sample takes a given time, asleep or computing, and moves the walker by a step; the members
 * of a group share the samples of a unit and add up their steps, so that the position is the same
 * on any group. The visits of a walker to cells of the square are a distributed array on its group,
 * which follows the group from one unit to the next. */
#include "kernel.h"

#include <regroup/array_regroup.h>
#include <stdlib.h>
#include <string.h>

#include "delay.h"

enum { TAG = 1 };

/* --- the state ---------------------------------------------------------------------- */

static int new_state(rg_walker *walker) {
  walker->state = calloc(1, sizeof(mcmc_kernel_state));
  return walker->state ? RG_SUCCESS : RG_ERR_NOMEM;
}

static int start_walker(rg_walker *walker, void *context) {
  const mcmc_run *run = context;
  int error = new_state(walker);
  if (error)
    return error;
  mcmc_kernel_state *s = walker->state;
  s->position = mcmc_walk_start(run->o.seed, (uint64_t)walker->id);
  s->samples = mcmc_plan_samples(&run->plan, walker->id / run->plan.key_step);
  return RG_SUCCESS;
}

static int packed_size(const rg_walker *walker, size_t *bytes, void *context) {
  (void)walker;
  (void)context;
  *bytes = sizeof(mcmc_kernel_state);
  return RG_SUCCESS;
}

static const int64_t origin[2] = {0, 0}, side[2] = {MCMC_WALK_SIDE, MCMC_WALK_SIDE};

static int get_visits(mcmc_run *run, mcmc_kernel_state *state) {
  return rg_array_get(run->visits, origin, side, state->visits, NULL);
}

/* Packs the position and, where visits are in the state, these. The array follows its group by
 * itself. */
static int pack_state(const rg_walker *walker, void *memory, size_t bytes, void *context) {
  mcmc_run *run = context;
  int error = run->survivors.survives && run->visits ? get_visits(run, walker->state) : RG_SUCCESS;
  memcpy(memory, walker->state, bytes);
  return error;
}

static int unpack_state(rg_walker *walker, const void *memory, size_t bytes, void *context) {
  (void)context;
  int error = bytes == sizeof(mcmc_kernel_state) ? new_state(walker) : RG_ERR_MISMATCH;
  if (!error)
    memcpy(walker->state, memory, bytes);
  return error;
}

static void drop_state(rg_walker *walker, void *context) {
  mcmc_run *run = context;
  rg_array_free(&run->visits);
  free(walker->state);
}

/* --- the visits, an array on the walker's group --------------------------------------- */

/* Makes the array, with the visits that the state has. */
static int make_visits(mcmc_run *run, const mcmc_kernel_state *state, rg_group g) {
  if (run->counts)
    return RG_SUCCESS;
  int error = rg_array_create_simple(g, RG_TYPE_INT64, 2, side, &run->visits);
  if (!error && run->member == 0)
    error = rg_array_put(run->visits, origin, side, state->visits, NULL);
  return error ? error : rg_array_sync(run->visits);
}

/* Moves the array to the new group; new members have none yet. */
static int follow_group(mcmc_run *run, rg_group g) {
  rg_group own;
  int same = RG_UNEQUAL;
  if (run->visits && !rg_array_group(run->visits, &own))
    rg_group_compare(own, g, &same);
  if (same != RG_UNEQUAL)
    return RG_SUCCESS;
  common_deaths_in_merge(&run->deaths, run->rank);
  if (run->counts)
    return RG_SUCCESS;
  return rg_array_regroup(g, g, NULL, &run->visits);
}

/* Members that leave hand their part of the array to those that stay. */
static int leave_group(rg_walker *walker, rg_group g, int stay, void *context) {
  mcmc_run *run = context;
  rg_group to = NULL;
  (void)walker;
  if (run->counts)
    return RG_SUCCESS;
  int error = rg_group_create_range(g, 0, stay - 1, 1, TAG, &to);
  if (!error)
    error = rg_array_regroup(g, to, NULL, &run->visits);
  rg_group_free(&to);
  return error;
}

/* --- units ------------------------------------------------------------------------------ */

static double units_left(const rg_walker *walker, void *context) {
  const mcmc_run *run = context;
  const mcmc_kernel_state *s = walker->state;
  return (double)((s->samples - s->done + run->plan.unit - 1) / run->plan.unit);
}

/* A new group: its deadlines start anew. */
static int change_group(rg_walker *walker, rg_group g, void *context) {
  mcmc_run *run = context;
  run->base = rgp_now();
  run->worked = 0;
  int error = rg_group_rank(g, &run->member);
  if (!error)
    error = rg_group_size(g, &run->members);
  if (error)
    return error;
  return walker->begins ? make_visits(run, walker->state, g) : follow_group(run, g);
}

/* Does the rank's own share of `count` samples and takes their time: until a deadline counted from
 * the group's start, so that single delays do not add up. Time that the group has waited for others
 * moves the deadline. */
static mcmc_walk_position do_share(mcmc_run *run, const rg_walker *walker, int64_t count) {
  const mcmc_kernel_state *s = walker->state;
  double from = mcmc_delay_processor_time();
  int64_t first = s->done + run->member, end = s->done + count;
  mcmc_walk_position moved =
      mcmc_walk_steps(run->o.seed, (uint64_t)walker->id, first, end, run->members);
  if (first < end)
    run->executed += (uint64_t)((end - first - 1) / run->members + 1);
  run->worked += count;
  if (run->o.spin)
    mcmc_delay_spin(run, from, (double)count * run->plan.sample / run->members);
  else
    mcmc_delay_until(run, run->base + walker->waited +
                              (double)run->worked * run->plan.sample / run->members);
  return moved;
}

/* Counts the cell in which the unit has ended. The cell's owner does it, since it needs no network
 * for that; where members may die the leader does, in the state. */
static int count_visit(mcmc_run *run, mcmc_kernel_state *state) {
  int64_t at[2], before;
  int counts = 0;
  mcmc_walk_cell(state->position, at);
  if (run->counts) {
    state->visits[at[0] * MCMC_WALK_SIDE + at[1]]++;
    return RG_SUCCESS;
  }
  int error = run->survivors.survives ? RG_SUCCESS : rg_array_owner(run->visits, at, &counts);
  if (error || counts != run->member)
    return error;
  return rg_array_read_inc(run->visits, at, 1, &before);
}

static int do_unit(rg_walker *walker, rg_group g, void *context) {
  mcmc_run *run = context;
  mcmc_kernel_state *s = walker->state;
  int64_t rest = s->samples - s->done, count = rest < run->plan.unit ? rest : run->plan.unit;
  mcmc_walk_position moved = do_share(run, walker, count);
  uint64_t sum[2] = {moved.x, moved.y};
  int error = rg_allreduce(g, MPI_IN_PLACE, sum, 2, MPI_UINT64_T, MPI_SUM);
  s->position.x += sum[0];
  s->position.y += sum[1];
  s->done += count;
  return error ? error : count_visit(run, s);
}

static int finish_walker(rg_walker *walker, rg_group g, void *context) {
  mcmc_run *run = context;
  (void)g;
  run->ended = rgp_now();
  int error = run->counts ? RG_SUCCESS : rg_array_sync(run->visits);
  return error || run->counts || run->member != 0 ? error : get_visits(run, walker->state);
}

/* --- saving ------------------------------------------------------------------------------- */

/* Of all on which the walkers depend. */
static uint64_t mark_options(const mcmc_run *run) {
  uint64_t mark = run->o.seed;
  for (int64_t w = 0; w < run->plan.walkers; w++) {
    mark = mark * 6364136223846793005u + (uint64_t)mcmc_plan_key(&run->plan, w);
    mark = mark * 6364136223846793005u + (uint64_t)mcmc_plan_samples(&run->plan, w);
  }
  return mark * 6364136223846793005u + (uint64_t)run->plan.unit;
}

int mcmc_kernel_load(mcmc_run *run) {
  if (!run->o.checkpoint)
    return RG_SUCCESS;
  return common_saved_load(&run->saved, run->survivors.group, NULL);
}

static mcmc_kernel_state *saved_states(const mcmc_run *run) {
  return (mcmc_kernel_state *)run->saved.states;
}

int mcmc_kernel_save(mcmc_run *run) {
  const rg_balance_outcome *ended;
  int64_t count;
  int error = rg_balance_outcomes(run->balancer, &count, &ended);
  for (int64_t i = 0; run->survivors.first && !error && i < count; i++)
    saved_states(run)[i] = *(const mcmc_kernel_state *)ended[i].state;
  return error ? error : common_saved_save(&run->saved, run->survivors.group, NULL);
}

int64_t mcmc_kernel_loaded(const mcmc_run *run) {
  int64_t done = 0;
  for (int64_t w = 0; run->saved.found && w < run->plan.walkers; w++)
    done += saved_states(run)[w].done;
  return done;
}

/* --- the balancer --------------------------------------------------------------------------- */

static void note_death(const rg_balance_death *death, void *context) {
  mcmc_run *run = context;
  common_deaths_note(&run->deaths, run->world, run->rank, death);
}

static void show_progress(void *context) {
  mcmc_delay_show(context);
}

void mcmc_kernel_open(mcmc_run *run) {
  run->saved = (common_saved){.path = run->o.checkpoint,
                              .mark = mark_options(run),
                              .bytes = (size_t)run->plan.walkers * sizeof(mcmc_kernel_state)};
  common_must(common_saved_open(&run->saved), "the checkpoint");
}

static void add_walkers(mcmc_run *run) {
  const mcmc_plan *p = &run->plan;
  for (int64_t w = 0; w < p->walkers; w++) {
    const mcmc_kernel_state *s = run->saved.found ? &saved_states(run)[w] : NULL;
    int64_t done = s ? s->done / p->unit : 0;
    rg_walker_new walker = {.size = sizeof walker,
                            .id = mcmc_plan_key(p, w),
                            .left = (double)(mcmc_plan_units(p, w) - done),
                            .unit = p->sample * (double)p->unit,
                            .state = s,
                            .bytes = sizeof *s};
    if (s && s->done == s->samples)
      walker.left = 0;
    common_must(rg_balance_add(run->balancer, &walker), "rg_balance_add");
  }
}

void mcmc_kernel_prepare(mcmc_run *run) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .unit = do_unit,
                         .left = units_left,
                         .start = start_walker,
                         .changed = change_group,
                         .leaving = leave_group,
                         .finished = finish_walker,
                         .drop = drop_state,
                         .packed = packed_size,
                         .pack = pack_state,
                         .unpack = unpack_state,
                         .alike = 1,
                         .context = run};
  rg_balance_options options = {.size = sizeof options,
                                .policy = &run->o.policy,
                                .group = run->plan.group,
                                .timeline = run->timeline,
                                .waiting = mcmc_delay_watched(run) ? show_progress : NULL,
                                .died = note_death,
                                .context = run,
                                .stop_when_due = run->o.checkpoint != NULL};
  common_must(rg_balance_create(run->world, &kind, &options, &run->balancer), "rg_balance_create");
  add_walkers(run);
}

/* Sample by sample, unit by unit. */
void mcmc_kernel_expect(const mcmc_run *run, int first, int step, uint64_t sums[2]) {
  const mcmc_plan *p = &run->plan;
  sums[0] = sums[1] = 0;
  for (int64_t w = first; w < p->walkers; w += step) {
    uint64_t key = (uint64_t)mcmc_plan_key(p, w);
    int64_t cells[MCMC_WALK_CELLS] = {0}, at[2], samples = mcmc_plan_samples(p, w);
    mcmc_walk_position position = mcmc_walk_start(run->o.seed, key);
    for (int64_t done = 0, end; done < samples; done = end) {
      end = samples - done < p->unit ? samples : done + p->unit;
      mcmc_walk_position moved = mcmc_walk_steps(run->o.seed, key, done, end, 1);
      position.x += moved.x;
      position.y += moved.y;
      mcmc_walk_cell(position, at);
      cells[at[0] * MCMC_WALK_SIDE + at[1]]++;
    }
    sums[0] += mcmc_walk_fingerprint(key, position);
    sums[1] += mcmc_walk_visits_fingerprint(key, cells);
  }
}
