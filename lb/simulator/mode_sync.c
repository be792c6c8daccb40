/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Rounds: each group does its units, the slowest ends the round, the loads are exchanged, one plan
 * is asked for and all groups change at once. Only the times of groups are kept, no events. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "world.h"

typedef struct {
  sim_world *w;
  rg_plan plan;
  rg_load *rows;
  int32_t *ids;
  int64_t rows_room;
  double now; /* when the round begins */
  int idle;   /* whether some group is */
} sync_run;

/* A group does up to so many units. Returns when it has. */
static double do_units(sync_run *run, int32_t g, int64_t units) {
  sim_world_group *group = &run->w->group[g];
  double ended = fmax(group->base, run->now);
  int met;
  while (units > 0 && group->left > 0) {
    int64_t count = group->left < units ? group->left : units;
    ended += (double)count * group->unit;
    units -= count;
    rg_pace_note(&group->pace, group->ranks, group->unit);
    group->left -= count;
    group->done += count;
    if (group->left == 0)
      sim_world_end_units(run->w, g, &met);
    if (group->left > 0)
      group->unit = sim_world_unit(run->w, g);
  }
  return ended;
}

/* A new group is late by its formation. The round ends with the slowest. */
static void do_round(sync_run *run, int64_t units) {
  sim_world *world = run->w;
  double end = run->now;
  run->idle = 0;
  for (int32_t g = world->head; g != SIM_NONE; g = world->group[g].next) {
    const sim_world_group *group = &world->group[g];
    if (group->left > 0) {
      double ended = do_units(run, g, units);
      end = fmax(end, ended);
      if (group->left == 0)
        world->last = fmax(world->last, ended);
    }
    run->idle |= group->left == 0;
  }
  run->now = end;
}

static int make_table(sync_run *run, rg_load_table *table) {
  sim_world *world = run->w;
  if (run->rows_room < world->groups) {
    free(run->rows);
    free(run->ids);
    run->rows_room = world->groups + (int64_t)world->groups / 4;
    run->rows = malloc((size_t)run->rows_room * sizeof *run->rows);
    run->ids = malloc((size_t)run->rows_room * sizeof *run->ids);
    if (!run->rows || !run->ids)
      return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %d rows", world->groups);
  }
  *table = (rg_load_table){.size = sizeof *table, .load = run->rows, .self = RG_LOAD_ALL_ROWS};
  for (int32_t g = world->head; g != SIM_NONE; g = world->group[g].next) {
    run->ids[table->count] = g;
    run->rows[table->count++] = sim_world_load(world, g, run->now);
  }
  table->merge = sim_machine_formation(&world->setup->machine, 2 * world->setup->group);
  table->cross = sim_machine_cross(&world->setup->machine);
  sim_walkers_show(&world->walkers, run->now, table);
  return RG_SUCCESS;
}

/* The group has new members, or a new walker: when its next stint begins. */
static void renew_stint(sync_run *run, int32_t g, int formed) {
  sim_world_group *group = &run->w->group[g];
  group->stints++;
  group->unit = sim_world_unit(run->w, g);
  group->base = run->now + (formed ? sim_world_formation(run->w, g) : 0);
}

static int do_move(sync_run *run, const rg_move *move) {
  int32_t from = run->ids[move->from], part = from;
  int whole = move->ranks == run->w->group[from].ranks;
  if (!whole)
    RGI_TRY(sim_world_split(run->w, from, move->ranks, &part));
  if (!whole && run->w->group[from].left > 0)
    run->w->group[from].coming = -1; /* formed anew, below */
  if (move->to != RG_MOVE_NO_ROW) {
    sim_world_join(run->w, run->ids[move->to], part);
    run->w->group[run->ids[move->to]].coming = -1;
    return RG_SUCCESS;
  }
  if (move->walker != RG_MOVE_NO_WALKER)
    sim_world_take(run->w, part, move->walker);
  if (!whole)
    sim_world_formed(run->w, part);
  renew_stint(run, part, !whole);
  return RG_SUCCESS;
}

/* No group works, and none has enough processes for a walker that waits: all become one. */
static int gather_all(sync_run *run, const rg_load_table *table) {
  for (int64_t row = 0; row < table->count; row++)
    if (table->load[row].state & RG_LOAD_ACTIVE)
      return RG_SUCCESS;
  for (int64_t row = 1; row < table->count; row++)
    RGI_TRY(rg_plan_add(&run->plan, &(rg_move){.from = row,
                                               .to = 0,
                                               .ranks = table->load[row].ranks,
                                               .walker = RG_MOVE_NO_WALKER}));
  return RG_SUCCESS;
}

static int regroup_all(sync_run *run) {
  rg_load_table table;
  RGI_TRY(make_table(run, &table));
  run->w->result->asked++;
  RGI_TRY(rg_policy_plan(&run->w->setup->policy, &table, &run->plan));
  if (run->plan.count == 0 && table.waiting_count > 0)
    RGI_TRY(gather_all(run, &table));
  for (int64_t i = 0; i < run->plan.count; i++)
    RGI_TRY(do_move(run, &run->plan.move[i]));
  for (int64_t row = 0; row < table.count; row++) {
    sim_world_group *group = &run->w->group[run->ids[row]];
    if (group->coming < 0 && group->state != SIM_GONE) {
      sim_world_formed(run->w, run->ids[row]);
      renew_stint(run, run->ids[row], 1);
    }
    group->coming = 0;
  }
  return RG_SUCCESS;
}

static int anything_works(const sim_world *world) {
  for (int32_t g = world->head; g != SIM_NONE; g = world->group[g].next)
    if (world->group[g].left > 0)
      return 1;
  return 0;
}

static int anything_left(const sim_world *world) {
  return anything_works(world) || world->walkers.count > 0;
}

static int run_rounds(sync_run *run) {
  const sim_setup *setup = run->w->setup;
  for (int32_t g = run->w->head; g != SIM_NONE; g = run->w->group[g].next)
    renew_stint(run, g, 1);
  while (anything_left(run->w)) {
    do_round(run, setup->policy.interval);
    if (!anything_left(run->w))
      break;
    if (!anything_works(run->w))
      run->now = fmax(run->now, setup->late);
    run->now += sim_machine_exchange(&setup->machine, setup->ranks);
    if (run->idle || (setup->policy.asks & RG_POLICY_ASKS_ACTIVE))
      RGI_TRY(regroup_all(run));
  }
  return RG_SUCCESS;
}

int sim_mode_sync(sim_world *world) {
  sync_run run = {.w = world};
  int error = run_rounds(&run);
  free(run.rows);
  free(run.ids);
  rg_plan_free(&run.plan);
  return error;
}
