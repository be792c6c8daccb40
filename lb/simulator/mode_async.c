/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A group that has no work left asks the policy what to do with its processes, and
 * the groups that it names whether they may join, by one message each. A group at
 * work looks for requests after each unit, merges with all that it finds, and goes
 * on with its work. A group that has finished refuses its requests; a group that is
 * refused asks the policy again. A group to which the policy has no answer waits
 * until one beside it has been formed. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "event.h"
#include "mode.h"

enum { END, LOOK, FORMED, ARRIVED, ASK, MEASURED };
static const double EPSILON = 1e-9; /* seconds: times that differ by less are the same */

typedef struct {
  sim_world *w;
  sim_events events;
  rg_plan plan;
  rg_load *rows;
  int32_t *ids; /* of the rows */
  int came;     /* the walkers that wait have come */
} async_run;

static sim_world_group *group_at(async_run *a, int32_t g) {
  return &a->w->group[g];
}

static const sim_machine *machine_of(const async_run *a) {
  return &a->w->setup->machine;
}

static int schedule_event(async_run *a, double time, int32_t g, int kind) {
  return sim_events_add(
      &a->events,
      (sim_event){.time = time, .group = g, .stamp = group_at(a, g)->stamp, .kind = kind});
}

/* --- stints ---------------------------------------------------------------------- */

/* How many units of the stint have ended by a time. */
static int64_t units_at(const sim_world_group *x, double time) {
  int64_t units = (int64_t)floor((time - x->base) / x->unit + 1e-6);
  return units < x->left ? units : x->left;
}

/* When a group at work sees a message that arrives at a time: it looks after each unit. */
static double seen_at(async_run *a, int32_t g, double time) {
  const sim_world_group *x = group_at(a, g);
  double units = floor((time - x->base) / x->unit + 1e-6) + machine_of(a)->polls;
  return x->base + fmax(units, machine_of(a)->polls) * x->unit;
}

static int look_later(async_run *a, int32_t g, double time) {
  const sim_world_group *x = group_at(a, g);
  return time < x->base + (double)x->left * x->unit - EPSILON ? schedule_event(a, time, g, LOOK)
                                                              : RG_SUCCESS;
}

static int wake_group(async_run *a, int32_t g, double time) {
  if (g == SIM_NONE || group_at(a, g)->state != SIM_IDLE)
    return RG_SUCCESS;
  return schedule_event(a, time + machine_of(a)->latency, g, ASK);
}

static int start_stint(async_run *a, int32_t g, double time) {
  sim_world_group *x = group_at(a, g);
  x->state = SIM_WORKING;
  x->stamp++;
  x->stints++;
  x->base = time;
  x->asks_at = 0;
  x->unit = sim_world_unit(a->w, g);
  RGI_TRY(schedule_event(a, time + (double)x->left * x->unit, g, END));
  if (a->w->setup->policy.asks & RG_POLICY_ASKS_ACTIVE)
    RGI_TRY(schedule_event(a, time + x->unit, g, MEASURED));
  for (int32_t p = group_at(a, g)->asked; p != SIM_NONE; p = group_at(a, p)->also) {
    group_at(a, p)->seen = seen_at(a, g, time);
    RGI_TRY(look_later(a, g, group_at(a, p)->seen));
  }
  RGI_TRY(wake_group(a, group_at(a, g)->previous, time));
  return wake_group(a, group_at(a, g)->next, time);
}

/* Counts the units that the stint has done, and ends it. */
static void stop_stint(async_run *a, int32_t g, double time) {
  sim_world_group *x = group_at(a, g);
  int64_t units = x->state == SIM_WORKING ? units_at(x, time) : 0;
  if (units > 0 && x->left > 0)
    rg_pace_note(&x->pace, x->ranks, x->unit);
  x->done += units;
  x->left -= units;
}

static int form_group(async_run *a, int32_t g, double ready) {
  group_at(a, g)->state = SIM_FORMING;
  group_at(a, g)->stamp++;
  return schedule_event(a, ready, g, FORMED);
}

/* --- requests ---------------------------------------------------------------------- */

static void unlink_request(async_run *a, int32_t target, int32_t from) {
  int32_t *p = &group_at(a, target)->asked;
  while (*p != SIM_NONE && *p != from)
    p = &group_at(a, *p)->also;
  if (*p == from)
    *p = group_at(a, from)->also;
}

/* The request of g is void, whether it has arrived or not. */
static void withdraw_request(async_run *a, int32_t g) {
  sim_world_group *x = group_at(a, g);
  if (x->state != SIM_ASKING)
    return;
  int32_t target = sim_world_now(a->w, x->asks);
  unlink_request(a, target, g);
  group_at(a, target)->coming -= x->ranks;
  x->asks = x->also = SIM_NONE;
  x->state = SIM_IDLE;
  x->stamp++;
}

static int refuse_request(async_run *a, int32_t g, double time) {
  a->w->result->refused++;
  withdraw_request(a, g);
  return schedule_event(a, time + machine_of(a)->latency, g, ASK);
}

static int send_request(async_run *a, int32_t g, int32_t target, double time) {
  sim_world_group *x = group_at(a, g);
  x->state = SIM_ASKING;
  x->stamp++;
  x->asks = target;
  group_at(a, target)->coming += x->ranks;
  return schedule_event(a, time + machine_of(a)->latency, g, ARRIVED);
}

/* The groups that asked `from` now ask `to`. */
static void pass_on(async_run *a, int32_t from, int32_t to) {
  int32_t last = SIM_NONE;
  for (int32_t p = group_at(a, from)->asked; p != SIM_NONE; p = group_at(a, p)->also)
    last = p;
  if (last == SIM_NONE)
    return;
  group_at(a, last)->also = group_at(a, to)->asked;
  group_at(a, to)->asked = group_at(a, from)->asked;
  group_at(a, from)->asked = SIM_NONE;
}

/* The group merges with all groups whose requests it can see, by one formation. Returns whether
 * there were any. */
static int accept_requests(async_run *a, int32_t g, double time, int *error) {
  int joined = 0;
  *error = RG_SUCCESS;
  for (int32_t p = group_at(a, g)->asked, next; p != SIM_NONE; p = next) {
    next = group_at(a, p)->also;
    if (group_at(a, p)->seen > time + EPSILON)
      continue;
    if (!joined) {
      withdraw_request(a, g);
      stop_stint(a, g, time);
    }
    withdraw_request(a, p);
    pass_on(a, p, g);
    group_at(a, g)->coming += group_at(a, p)->coming;
    sim_world_join(a->w, g, p);
    joined = 1;
  }
  if (joined) {
    sim_world_formed(a->w, g);
    *error = form_group(a, g, time + sim_world_formation(a->w, g) + 2 * machine_of(a)->latency);
  }
  return joined;
}

/* --- asking the policy ------------------------------------------------------------- */

/* The nearest groups on both sides. Returns the row of g. */
static int look_around(async_run *a, int32_t g, double time, int64_t *count) {
  int left = 0, rows = 0, self = 0;
  int32_t first = g, end;
  for (; left < a->w->setup->view / 2 && group_at(a, first)->previous != SIM_NONE; left++)
    first = group_at(a, first)->previous;
  for (end = first; rows <= a->w->setup->view && end != SIM_NONE; end = group_at(a, end)->next) {
    if (end == g)
      self = rows;
    a->ids[rows] = end;
    a->rows[rows++] = sim_world_load(a->w, end, time);
  }
  *count = rows;
  return self;
}

static int do_move(async_run *a, int32_t g, const rg_move *m, double time) {
  int32_t part = g;
  if (m->ranks < group_at(a, g)->ranks)
    RGI_TRY(sim_world_split(a->w, g, m->ranks, &part));
  if (m->to != RG_MOVE_NO_ROW)
    return send_request(a, part, a->ids[m->to], time);
  if (m->walker != RG_MOVE_NO_WALKER)
    sim_world_take(a->w, part, m->walker);
  if (part == g)
    return start_stint(a, g, time);
  sim_world_formed(a->w, part);
  return form_group(a, part, time + sim_world_formation(a->w, part));
}

/* A walker waits that needs more processes than the idle group has: it becomes one with another
 * idle group in view. */
static int gather_groups(async_run *a, int32_t g, int64_t rows, double time) {
  for (int64_t i = 0; i < rows && group_at(a, g)->left == 0; i++) {
    int32_t other = a->ids[i];
    if (other == g || group_at(a, other)->state != SIM_IDLE)
      continue;
    sim_world_join(a->w, other, g);
    sim_world_formed(a->w, other);
    return form_group(a, other,
                      time + sim_world_formation(a->w, other) + 2 * machine_of(a)->latency);
  }
  return RG_SUCCESS;
}

static int ask_policy(async_run *a, int32_t g, double time) {
  rg_load_table t = {.size = sizeof t, .load = a->rows};
  const sim_machine *m = machine_of(a);
  a->w->result->asked++;
  t.self = look_around(a, g, time, &t.count);
  sim_walkers_show(&a->w->walkers, time, &t);
  t.merge = sim_machine_formation(m, group_at(a, g)->ranks) + 2 * m->latency;
  t.cross = sim_machine_cross(m);
  RGI_TRY(rg_policy_plan(&a->w->setup->policy, &t, &a->plan));
  if (a->plan.count == 0)
    return t.waiting_count > 0 && group_at(a, g)->ranks < a->w->setup->least
               ? gather_groups(a, g, t.count, time)
               : RG_SUCCESS;
  int active = group_at(a, g)->left > 0;
  if (active)
    stop_stint(a, g, time);
  for (int64_t i = 0; i < a->plan.count; i++)
    RGI_TRY(do_move(a, g, &a->plan.move[i], time));
  if (!active)
    return RG_SUCCESS;
  sim_world_formed(a->w, g);
  return form_group(a, g, time + sim_world_formation(a->w, g));
}

/* --- events --------------------------------------------------------------------------- */

/* A group without work refuses requests, or accepts them on a machine with idle_join. */
static int become_idle(async_run *a, int32_t g, double time) {
  int error;
  group_at(a, g)->state = SIM_IDLE;
  group_at(a, g)->stamp++;
  a->w->last = fmax(a->w->last, time);
  if (machine_of(a)->idle_join) {
    for (int32_t p = group_at(a, g)->asked; p != SIM_NONE; p = group_at(a, p)->also)
      group_at(a, p)->seen = time;
    if (accept_requests(a, g, time, &error))
      return error;
  }
  while (group_at(a, g)->asked != SIM_NONE)
    RGI_TRY(refuse_request(a, group_at(a, g)->asked, time));
  RGI_TRY(wake_group(a, group_at(a, g)->previous, time));
  return ask_policy(a, g, time);
}

static int note_arrival(async_run *a, int32_t from, double time) {
  int error = RG_SUCCESS;
  int32_t g = sim_world_now(a->w, group_at(a, from)->asks);
  sim_world_state state = group_at(a, g)->state;
  int idle = state == SIM_IDLE || state == SIM_ASKING;
  if (g == from || (idle && !machine_of(a)->idle_join))
    return refuse_request(a, from, time);
  group_at(a, from)->also = group_at(a, g)->asked;
  group_at(a, g)->asked = from;
  group_at(a, from)->seen = idle ? time : INFINITY;
  if (idle)
    accept_requests(a, g, time, &error);
  if (state != SIM_WORKING)
    return error;
  group_at(a, from)->seen = seen_at(a, g, time);
  return look_later(a, g, group_at(a, from)->seen);
}

static int note_measured(async_run *a, int32_t g, double time) {
  sim_world_group *x = group_at(a, g);
  int known = 0;
  for (int i = 0; i < x->pace.count; i++)
    known |= x->pace.ranks[i] == x->ranks;
  if (!known)
    rg_pace_note(&x->pace, x->ranks, x->unit);
  return x->left > 1 && (!known || sim_walkers_waiting(&a->w->walkers, time) > 0)
             ? ask_policy(a, g, time)
             : RG_SUCCESS;
}

/* Walkers have come: the group asks the policy if it is idle, or after its unit if the policy is
 * asked about groups at work. */
static int note_walkers(async_run *a, int32_t g, double time) {
  sim_world_group *x = group_at(a, g);
  double end = x->base + (double)(units_at(x, time) + 1) * x->unit;
  RGI_TRY(wake_group(a, g, time));
  if (x->state != SIM_WORKING || !(a->w->setup->policy.asks & RG_POLICY_ASKS_ACTIVE) ||
      x->asks_at >= end - EPSILON || end >= x->base + (double)x->left * x->unit - EPSILON)
    return RG_SUCCESS;
  x->asks_at = end;
  return schedule_event(a, end, g, MEASURED);
}

/* The walkers that find no group at first. */
static int note_late(async_run *a, double time) {
  a->came = 1;
  for (int32_t g = 0; g < a->w->groups; g++)
    RGI_TRY(note_walkers(a, g, time));
  return RG_SUCCESS;
}

/* Walkers have met: the groups in view learn that they wait. */
static int note_meeting(async_run *a, int32_t g, double time) {
  int32_t left = g, right = g;
  for (int i = 0; i < a->w->setup->view / 2 && (left != SIM_NONE || right != SIM_NONE); i++) {
    left = left != SIM_NONE ? group_at(a, left)->previous : left;
    right = right != SIM_NONE ? group_at(a, right)->next : right;
    if (left != SIM_NONE)
      RGI_TRY(note_walkers(a, left, time));
    if (right != SIM_NONE)
      RGI_TRY(note_walkers(a, right, time));
  }
  return RG_SUCCESS;
}

/* The units of a stint are done: the walker goes on with other units, or the group is idle. */
static int end_units(async_run *a, int32_t g, double time) {
  int met, error;
  stop_stint(a, g, time);
  sim_world_end_units(a->w, g, &met);
  if (met)
    RGI_TRY(note_meeting(a, g, time));
  if (group_at(a, g)->left == 0)
    return become_idle(a, g, time);
  group_at(a, g)->state = SIM_FORMING; /* its units are counted */
  return accept_requests(a, g, time, &error) ? error : start_stint(a, g, time);
}

static int handle_event(async_run *a, const sim_event *e) {
  int error = RG_SUCCESS;
  if (e->kind == END)
    return end_units(a, e->group, e->time);
  if (e->kind == FORMED && group_at(a, e->group)->left == 0)
    return become_idle(a, e->group, e->time);
  if (e->kind == FORMED)
    return start_stint(a, e->group, e->time);
  if (e->kind == LOOK)
    accept_requests(a, e->group, e->time, &error);
  else if (e->kind == ARRIVED)
    return note_arrival(a, e->group, e->time);
  else if (e->kind == ASK && group_at(a, e->group)->state == SIM_IDLE)
    return ask_policy(a, e->group, e->time);
  else if (e->kind == MEASURED)
    return note_measured(a, e->group, e->time);
  return error;
}

static int run_events(async_run *a) {
  sim_event e;
  double late = a->w->setup->late;
  int32_t groups = a->w->groups;
  for (int32_t g = 0; g < groups; g++) {
    double formed = sim_world_formation(a->w, g);
    RGI_TRY(form_group(a, g, formed));
  }
  while (sim_events_next(&a->events, &e)) {
    if (!a->came && e.time >= late)
      RGI_TRY(note_late(a, late));
    if (e.stamp == group_at(a, e.group)->stamp)
      RGI_TRY(handle_event(a, &e));
    if (!a->came && a->events.count == 0)
      RGI_TRY(note_late(a, late));
  }
  return RG_SUCCESS;
}

int sim_mode_async(sim_world *w) {
  async_run a = {.w = w};
  size_t rows = (size_t)w->setup->view + 2;
  a.rows = malloc(rows * sizeof *a.rows);
  a.ids = malloc(rows * sizeof *a.ids);
  int error = a.rows && a.ids ? run_events(&a) : rgi_error(RG_ERR_NOMEM, "simulation: no memory");
  free(a.rows);
  free(a.ids);
  free(a.events.at);
  rg_plan_free(&a.plan);
  return error;
}
