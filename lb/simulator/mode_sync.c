/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Rounds: each group does its units, the slowest ends the round, the loads are exchanged, one plan
 * is asked for and all groups change at once. Only the times of groups are kept, no events. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "mode.h"

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
static double do_units(sync_run *s, int32_t g, int64_t units) {
  sim_world_group *x = &s->w->group[g];
  double ended = fmax(x->base, s->now);
  int met;
  while (units > 0 && x->left > 0) {
    int64_t count = x->left < units ? x->left : units;
    ended += (double)count * x->unit;
    units -= count;
    rg_pace_note(&x->pace, x->ranks, x->unit);
    x->left -= count;
    x->done += count;
    if (x->left == 0)
      sim_world_end_units(s->w, g, &met);
    if (x->left > 0)
      x->unit = sim_world_unit(s->w, g);
  }
  return ended;
}

/* A new group is late by its formation. The round ends with the slowest. */
static void do_round(sync_run *s, int64_t units) {
  sim_world *w = s->w;
  double end = s->now;
  s->idle = 0;
  for (int32_t g = w->head; g != SIM_NONE; g = w->group[g].next) {
    const sim_world_group *x = &w->group[g];
    if (x->left > 0) {
      double ended = do_units(s, g, units);
      end = fmax(end, ended);
      if (x->left == 0)
        w->last = fmax(w->last, ended);
    }
    s->idle |= x->left == 0;
  }
  s->now = end;
}

static int make_table(sync_run *s, rg_load_table *t) {
  sim_world *w = s->w;
  if (s->rows_room < w->groups) {
    free(s->rows);
    free(s->ids);
    s->rows_room = w->groups + (int64_t)w->groups / 4;
    s->rows = malloc((size_t)s->rows_room * sizeof *s->rows);
    s->ids = malloc((size_t)s->rows_room * sizeof *s->ids);
    if (!s->rows || !s->ids)
      return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %d rows", w->groups);
  }
  *t = (rg_load_table){.size = sizeof *t, .load = s->rows, .self = RG_LOAD_ALL_ROWS};
  for (int32_t g = w->head; g != SIM_NONE; g = w->group[g].next) {
    s->ids[t->count] = g;
    s->rows[t->count++] = sim_world_load(w, g, s->now);
  }
  t->merge = sim_machine_formation(&w->setup->machine, 2 * w->setup->group);
  t->cross = sim_machine_cross(&w->setup->machine);
  sim_walkers_show(&w->walkers, s->now, t);
  return RG_SUCCESS;
}

/* The group has new members, or a new walker: when its next stint begins. */
static void renew_stint(sync_run *s, int32_t g, int formed) {
  sim_world_group *x = &s->w->group[g];
  x->stints++;
  x->unit = sim_world_unit(s->w, g);
  x->base = s->now + (formed ? sim_world_formation(s->w, g) : 0);
}

static int do_move(sync_run *s, const rg_move *m) {
  int32_t from = s->ids[m->from], part = from;
  int whole = m->ranks == s->w->group[from].ranks;
  if (!whole)
    RGI_TRY(sim_world_split(s->w, from, m->ranks, &part));
  if (!whole && s->w->group[from].left > 0)
    s->w->group[from].coming = -1; /* formed anew, below */
  if (m->to != RG_MOVE_NO_ROW) {
    sim_world_join(s->w, s->ids[m->to], part);
    s->w->group[s->ids[m->to]].coming = -1;
    return RG_SUCCESS;
  }
  if (m->walker != RG_MOVE_NO_WALKER)
    sim_world_take(s->w, part, m->walker);
  if (!whole)
    sim_world_formed(s->w, part);
  renew_stint(s, part, !whole);
  return RG_SUCCESS;
}

/* No group works, and none has enough processes for a walker that waits: all become one. */
static int gather_all(sync_run *s, const rg_load_table *t) {
  for (int64_t row = 0; row < t->count; row++)
    if (t->load[row].state & RG_LOAD_ACTIVE)
      return RG_SUCCESS;
  for (int64_t row = 1; row < t->count; row++)
    RGI_TRY(rg_plan_add(&s->plan, &(rg_move){row, 0, t->load[row].ranks, RG_MOVE_NO_WALKER, {0}}));
  return RG_SUCCESS;
}

static int regroup_all(sync_run *s) {
  rg_load_table t;
  RGI_TRY(make_table(s, &t));
  s->w->result->asked++;
  RGI_TRY(rg_policy_plan(&s->w->setup->policy, &t, &s->plan));
  if (s->plan.count == 0 && t.waiting_count > 0)
    RGI_TRY(gather_all(s, &t));
  for (int64_t i = 0; i < s->plan.count; i++)
    RGI_TRY(do_move(s, &s->plan.move[i]));
  for (int64_t row = 0; row < t.count; row++) {
    sim_world_group *x = &s->w->group[s->ids[row]];
    if (x->coming < 0 && x->state != SIM_GONE) {
      sim_world_formed(s->w, s->ids[row]);
      renew_stint(s, s->ids[row], 1);
    }
    x->coming = 0;
  }
  return RG_SUCCESS;
}

static int anything_works(const sim_world *w) {
  for (int32_t g = w->head; g != SIM_NONE; g = w->group[g].next)
    if (w->group[g].left > 0)
      return 1;
  return 0;
}

static int anything_left(const sim_world *w) {
  return anything_works(w) || w->walkers.count > 0;
}

static int run_rounds(sync_run *s) {
  const sim_setup *setup = s->w->setup;
  for (int32_t g = s->w->head; g != SIM_NONE; g = s->w->group[g].next)
    renew_stint(s, g, 1);
  while (anything_left(s->w)) {
    do_round(s, setup->policy.interval);
    if (!anything_left(s->w))
      break;
    if (!anything_works(s->w))
      s->now = fmax(s->now, setup->late);
    s->now += sim_machine_exchange(&setup->machine, setup->ranks);
    if (s->idle || (setup->policy.asks & RG_POLICY_ASKS_ACTIVE))
      RGI_TRY(regroup_all(s));
  }
  return RG_SUCCESS;
}

int sim_mode_sync(sim_world *w) {
  sync_run s = {.w = w};
  int error = run_rounds(&s);
  free(s.rows);
  free(s.ids);
  rg_plan_free(&s.plan);
  return error;
}
