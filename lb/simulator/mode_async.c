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
#include "world.h"

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

static sim_world_group *group_at(async_run *run, int32_t g) {
  return &run->w->group[g];
}

static const sim_machine *machine_of(const async_run *run) {
  return &run->w->setup->machine;
}

static int schedule_event(async_run *run, double time, int32_t g, int kind) {
  return sim_events_add(
      &run->events,
      (sim_event){.time = time, .group = g, .stamp = group_at(run, g)->stamp, .kind = kind});
}

/* --- stints ---------------------------------------------------------------------- */

/* How many units of the stint have ended by a time. */
static int64_t units_at(const sim_world_group *group, double time) {
  int64_t units = (int64_t)floor((time - group->base) / group->unit + 1e-6);
  return units < group->left ? units : group->left;
}

/* When a group at work sees a message that arrives at a time: it looks after each unit. */
static double seen_at(async_run *run, int32_t g, double time) {
  const sim_world_group *group = group_at(run, g);
  double units = floor((time - group->base) / group->unit + 1e-6) + machine_of(run)->polls;
  return group->base + fmax(units, machine_of(run)->polls) * group->unit;
}

static int look_later(async_run *run, int32_t g, double time) {
  const sim_world_group *group = group_at(run, g);
  return time < group->base + (double)group->left * group->unit - EPSILON
             ? schedule_event(run, time, g, LOOK)
             : RG_SUCCESS;
}

static int wake_group(async_run *run, int32_t g, double time) {
  if (g == SIM_NONE || group_at(run, g)->state != SIM_IDLE)
    return RG_SUCCESS;
  return schedule_event(run, time + machine_of(run)->latency, g, ASK);
}

static int start_stint(async_run *run, int32_t g, double time) {
  sim_world_group *group = group_at(run, g);
  group->state = SIM_WORKING;
  group->stamp++;
  group->stints++;
  group->base = time;
  group->asks_at = 0;
  group->unit = sim_world_unit(run->w, g);
  RGI_TRY(schedule_event(run, time + (double)group->left * group->unit, g, END));
  if (run->w->setup->policy.asks & RG_POLICY_ASKS_ACTIVE)
    RGI_TRY(schedule_event(run, time + group->unit, g, MEASURED));
  for (int32_t p = group_at(run, g)->asked; p != SIM_NONE; p = group_at(run, p)->also) {
    group_at(run, p)->seen = seen_at(run, g, time);
    RGI_TRY(look_later(run, g, group_at(run, p)->seen));
  }
  RGI_TRY(wake_group(run, group_at(run, g)->previous, time));
  return wake_group(run, group_at(run, g)->next, time);
}

/* Counts the units that the stint has done, and ends it. */
static void stop_stint(async_run *run, int32_t g, double time) {
  sim_world_group *group = group_at(run, g);
  int64_t units = group->state == SIM_WORKING ? units_at(group, time) : 0;
  if (units > 0 && group->left > 0)
    rg_pace_note(&group->pace, group->ranks, group->unit);
  group->done += units;
  group->left -= units;
}

static int form_group(async_run *run, int32_t g, double ready) {
  group_at(run, g)->state = SIM_FORMING;
  group_at(run, g)->stamp++;
  return schedule_event(run, ready, g, FORMED);
}

/* --- requests ---------------------------------------------------------------------- */

static void unlink_request(async_run *run, int32_t target, int32_t from) {
  int32_t *p = &group_at(run, target)->asked;
  while (*p != SIM_NONE && *p != from)
    p = &group_at(run, *p)->also;
  if (*p == from)
    *p = group_at(run, from)->also;
}

/* The request of g is void, whether it has arrived or not. */
static void withdraw_request(async_run *run, int32_t g) {
  sim_world_group *group = group_at(run, g);
  if (group->state != SIM_ASKING)
    return;
  int32_t target = sim_world_now(run->w, group->asks);
  unlink_request(run, target, g);
  group_at(run, target)->coming -= group->ranks;
  group->asks = group->also = SIM_NONE;
  group->state = SIM_IDLE;
  group->stamp++;
}

static int refuse_request(async_run *run, int32_t g, double time) {
  run->w->result->refused++;
  withdraw_request(run, g);
  return schedule_event(run, time + machine_of(run)->latency, g, ASK);
}

static int send_request(async_run *run, int32_t g, int32_t target, double time) {
  sim_world_group *group = group_at(run, g);
  group->state = SIM_ASKING;
  group->stamp++;
  group->asks = target;
  group_at(run, target)->coming += group->ranks;
  return schedule_event(run, time + machine_of(run)->latency, g, ARRIVED);
}

/* The groups that asked `from` now ask `to`. */
static void pass_on(async_run *run, int32_t from, int32_t to) {
  int32_t last = SIM_NONE;
  for (int32_t p = group_at(run, from)->asked; p != SIM_NONE; p = group_at(run, p)->also)
    last = p;
  if (last == SIM_NONE)
    return;
  group_at(run, last)->also = group_at(run, to)->asked;
  group_at(run, to)->asked = group_at(run, from)->asked;
  group_at(run, from)->asked = SIM_NONE;
}

/* The group merges with all groups whose requests it can see, by one formation. Returns whether
 * there were any. */
static int accept_requests(async_run *run, int32_t g, double time, int *error) {
  int joined = 0;
  *error = RG_SUCCESS;
  for (int32_t p = group_at(run, g)->asked, next; p != SIM_NONE; p = next) {
    next = group_at(run, p)->also;
    if (group_at(run, p)->seen > time + EPSILON)
      continue;
    if (!joined) {
      withdraw_request(run, g);
      stop_stint(run, g, time);
    }
    withdraw_request(run, p);
    pass_on(run, p, g);
    group_at(run, g)->coming += group_at(run, p)->coming;
    sim_world_join(run->w, g, p);
    joined = 1;
  }
  if (joined) {
    sim_world_formed(run->w, g);
    *error =
        form_group(run, g, time + sim_world_formation(run->w, g) + 2 * machine_of(run)->latency);
  }
  return joined;
}

/* --- asking the policy ------------------------------------------------------------- */

/* The nearest groups on both sides. Returns the row of g. */
static int look_around(async_run *run, int32_t g, double time, int64_t *count) {
  int left = 0, rows = 0, self = 0;
  int32_t first = g, end;
  for (; left < run->w->setup->view / 2 && group_at(run, first)->previous != SIM_NONE; left++)
    first = group_at(run, first)->previous;
  for (end = first; rows <= run->w->setup->view && end != SIM_NONE;
       end = group_at(run, end)->next) {
    if (end == g)
      self = rows;
    run->ids[rows] = end;
    run->rows[rows++] = sim_world_load(run->w, end, time);
  }
  *count = rows;
  return self;
}

static int do_move(async_run *run, int32_t g, const rg_move *move, double time) {
  int32_t part = g;
  if (move->ranks < group_at(run, g)->ranks)
    RGI_TRY(sim_world_split(run->w, g, move->ranks, &part));
  if (move->to != RG_MOVE_NO_ROW)
    return send_request(run, part, run->ids[move->to], time);
  if (move->walker != RG_MOVE_NO_WALKER)
    sim_world_take(run->w, part, move->walker);
  if (part == g)
    return start_stint(run, g, time);
  sim_world_formed(run->w, part);
  return form_group(run, part, time + sim_world_formation(run->w, part));
}

/* A walker waits that needs more processes than the idle group has: it becomes one with another
 * idle group in view. */
static int gather_groups(async_run *run, int32_t g, int64_t rows, double time) {
  for (int64_t i = 0; i < rows && group_at(run, g)->left == 0; i++) {
    int32_t other = run->ids[i];
    if (other == g || group_at(run, other)->state != SIM_IDLE)
      continue;
    sim_world_join(run->w, other, g);
    sim_world_formed(run->w, other);
    return form_group(run, other,
                      time + sim_world_formation(run->w, other) + 2 * machine_of(run)->latency);
  }
  return RG_SUCCESS;
}

static int ask_policy(async_run *run, int32_t g, double time) {
  rg_load_table table = {.size = sizeof table, .load = run->rows};
  const sim_machine *machine = machine_of(run);
  run->w->result->asked++;
  table.self = look_around(run, g, time, &table.count);
  sim_walkers_show(&run->w->walkers, time, &table);
  table.merge = sim_machine_formation(machine, group_at(run, g)->ranks) + 2 * machine->latency;
  table.cross = sim_machine_cross(machine);
  RGI_TRY(rg_policy_plan(&run->w->setup->policy, &table, &run->plan));
  if (run->plan.count == 0)
    return table.waiting_count > 0 && group_at(run, g)->ranks < run->w->setup->least
               ? gather_groups(run, g, table.count, time)
               : RG_SUCCESS;
  int active = group_at(run, g)->left > 0;
  if (active)
    stop_stint(run, g, time);
  for (int64_t i = 0; i < run->plan.count; i++)
    RGI_TRY(do_move(run, g, &run->plan.move[i], time));
  if (!active)
    return RG_SUCCESS;
  sim_world_formed(run->w, g);
  return form_group(run, g, time + sim_world_formation(run->w, g));
}

/* --- events --------------------------------------------------------------------------- */

/* A group without work refuses requests, or accepts them on a machine with idle_join. */
static int become_idle(async_run *run, int32_t g, double time) {
  int error;
  group_at(run, g)->state = SIM_IDLE;
  group_at(run, g)->stamp++;
  run->w->last = fmax(run->w->last, time);
  if (machine_of(run)->idle_join) {
    for (int32_t p = group_at(run, g)->asked; p != SIM_NONE; p = group_at(run, p)->also)
      group_at(run, p)->seen = time;
    if (accept_requests(run, g, time, &error))
      return error;
  }
  while (group_at(run, g)->asked != SIM_NONE)
    RGI_TRY(refuse_request(run, group_at(run, g)->asked, time));
  RGI_TRY(wake_group(run, group_at(run, g)->previous, time));
  return ask_policy(run, g, time);
}

static int note_arrival(async_run *run, int32_t from, double time) {
  int error = RG_SUCCESS;
  int32_t g = sim_world_now(run->w, group_at(run, from)->asks);
  sim_world_state state = group_at(run, g)->state;
  int idle = state == SIM_IDLE || state == SIM_ASKING;
  if (g == from || (idle && !machine_of(run)->idle_join))
    return refuse_request(run, from, time);
  group_at(run, from)->also = group_at(run, g)->asked;
  group_at(run, g)->asked = from;
  group_at(run, from)->seen = idle ? time : INFINITY;
  if (idle)
    accept_requests(run, g, time, &error);
  if (state != SIM_WORKING)
    return error;
  group_at(run, from)->seen = seen_at(run, g, time);
  return look_later(run, g, group_at(run, from)->seen);
}

static int note_measured(async_run *run, int32_t g, double time) {
  sim_world_group *group = group_at(run, g);
  int known = 0;
  for (int i = 0; i < group->pace.count; i++)
    known |= group->pace.ranks[i] == group->ranks;
  if (!known)
    rg_pace_note(&group->pace, group->ranks, group->unit);
  return group->left > 1 && (!known || sim_walkers_waiting(&run->w->walkers, time) > 0)
             ? ask_policy(run, g, time)
             : RG_SUCCESS;
}

/* Walkers have come: the group asks the policy if it is idle, or after its unit if the policy is
 * asked about groups at work. */
static int note_walkers(async_run *run, int32_t g, double time) {
  sim_world_group *group = group_at(run, g);
  double end = group->base + (double)(units_at(group, time) + 1) * group->unit;
  RGI_TRY(wake_group(run, g, time));
  if (group->state != SIM_WORKING || !(run->w->setup->policy.asks & RG_POLICY_ASKS_ACTIVE) ||
      group->asks_at >= end - EPSILON ||
      end >= group->base + (double)group->left * group->unit - EPSILON)
    return RG_SUCCESS;
  group->asks_at = end;
  return schedule_event(run, end, g, MEASURED);
}

/* The walkers that find no group at first. */
static int note_late(async_run *run, double time) {
  run->came = 1;
  for (int32_t g = 0; g < run->w->groups; g++)
    RGI_TRY(note_walkers(run, g, time));
  return RG_SUCCESS;
}

/* Walkers have met: the groups in view learn that they wait. */
static int note_meeting(async_run *run, int32_t g, double time) {
  int32_t left = g, right = g;
  for (int i = 0; i < run->w->setup->view / 2 && (left != SIM_NONE || right != SIM_NONE); i++) {
    left = left != SIM_NONE ? group_at(run, left)->previous : left;
    right = right != SIM_NONE ? group_at(run, right)->next : right;
    if (left != SIM_NONE)
      RGI_TRY(note_walkers(run, left, time));
    if (right != SIM_NONE)
      RGI_TRY(note_walkers(run, right, time));
  }
  return RG_SUCCESS;
}

/* The units of a stint are done: the walker goes on with other units, or the group is idle. */
static int end_units(async_run *run, int32_t g, double time) {
  int met, error;
  stop_stint(run, g, time);
  sim_world_end_units(run->w, g, &met);
  if (met)
    RGI_TRY(note_meeting(run, g, time));
  if (group_at(run, g)->left == 0)
    return become_idle(run, g, time);
  group_at(run, g)->state = SIM_FORMING; /* its units are counted */
  return accept_requests(run, g, time, &error) ? error : start_stint(run, g, time);
}

static int handle_event(async_run *run, const sim_event *event) {
  int error = RG_SUCCESS;
  if (event->kind == END)
    return end_units(run, event->group, event->time);
  if (event->kind == FORMED && group_at(run, event->group)->left == 0)
    return become_idle(run, event->group, event->time);
  if (event->kind == FORMED)
    return start_stint(run, event->group, event->time);
  if (event->kind == LOOK)
    accept_requests(run, event->group, event->time, &error);
  else if (event->kind == ARRIVED)
    return note_arrival(run, event->group, event->time);
  else if (event->kind == ASK && group_at(run, event->group)->state == SIM_IDLE)
    return ask_policy(run, event->group, event->time);
  else if (event->kind == MEASURED)
    return note_measured(run, event->group, event->time);
  return error;
}

static int run_events(async_run *run) {
  sim_event event;
  double late = run->w->setup->late;
  int32_t groups = run->w->groups;
  for (int32_t g = 0; g < groups; g++) {
    double formed = sim_world_formation(run->w, g);
    RGI_TRY(form_group(run, g, formed));
  }
  while (sim_events_next(&run->events, &event)) {
    if (!run->came && event.time >= late)
      RGI_TRY(note_late(run, late));
    if (event.stamp == group_at(run, event.group)->stamp)
      RGI_TRY(handle_event(run, &event));
    if (!run->came && run->events.count == 0)
      RGI_TRY(note_late(run, late));
  }
  return RG_SUCCESS;
}

int sim_mode_async(sim_world *world) {
  async_run run = {.w = world};
  size_t rows = (size_t)world->setup->view + 2;
  run.rows = malloc(rows * sizeof *run.rows);
  run.ids = malloc(rows * sizeof *run.ids);
  int error =
      run.rows && run.ids ? run_events(&run) : rgi_error(RG_ERR_NOMEM, "simulation: no memory");
  free(run.rows);
  free(run.ids);
  free(run.events.at);
  rg_plan_free(&run.plan);
  return error;
}
