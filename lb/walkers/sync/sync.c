/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing. After every i units of each group all processes exchange what their groups
 * have to do. From the same reports each process works out the same plan and the same new groups,
 * so that nothing more is sent (round.c). */
#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "progress/progress.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/state/stop.h"
#include "walkers/store/record.h"
#include "walkers/store/record_pack.h"
#include "walkers/sync/sync.h"
#include "walkers/team/meeting_list.h"

/* --- units ----------------------------------------------------------------------------- */

static int decide_next(void *of, rgi_work_decision *d) {
  rg_balancer b = of;
  b->work.stopping |= rgi_stop_due(b);
  d->kind = rgi_work_next(&b->work);
  return RG_SUCCESS;
}

static void become_idle(rg_balancer b) {
  b->round.since = rgi_clock_now();
  rgi_team_mark(&b->team, RG_SPAN_IDLE);
}

static int continue_walker(rg_balancer b, int next) {
  if (next == RGI_WORK_FINISH)
    RGI_TRY(rgi_work_finish(&b->work));
  if (next == RGI_WORK_MEET)
    RGI_TRY(rgi_sync_set_aside(b));
  if (!b->work.working)
    become_idle(b);
  return RG_SUCCESS;
}

static int do_unit(rg_balancer b, int *what) {
  rgi_work_decision next;
  b->round.units++;
  RGI_TRY(rgi_work_unit(&b->work, decide_next, b, &next));
  *what = next.kind == RGI_WORK_GO_ON ? RG_BALANCE_WORKED : RG_BALANCE_MOVED;
  return continue_walker(b, (int)next.kind);
}

/* --- the exchange -------------------------------------------------------------------------- */

static void fill_report(rg_balancer b, rgi_round_report *t) {
  const rgi_work *work = &b->work;
  int may = work->may & (RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE);
  b->work.stopping |= rgi_stop_due(b);
  *t = (rgi_round_report){.leader = b->team.ranks[0],
                          .lowest = b->team.lowest,
                          .born = work->born.count,
                          .aside = b->round.has_brought,
                          .due = work->stopping,
                          .arrived = rgi_clock_now(),
                          .load = rgi_work_load(work, work->working ? may : RG_LOAD_JOINABLE)};
  if (work->working)
    t->load.awaited = rgi_meeting_list_awaits(rgi_round_aside(&b->round), work->walker.id);
}

/* The units of other groups may take any time: RG_TIMEOUT does not end the wait. */
static void start_waiting(const struct rg_balancer_s *b, rgi_wait *w) {
  rgi_wait_start(w, "the end of a round", -1);
  rgi_membership_scope(&b->members, w);
}

/* Tests whether the reports of all processes are here; with `wait`, waits for them. */
static int await_round(rg_balancer b, int wait, int *done) {
  rgi_wait w;
  double said = 0;
  *done = 0;
  start_waiting(b, &w);
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_buddy_serve(&b->survival.buddy));
    RGI_TRY(rg_test(&b->round.request, done, NULL));
    if (*done || !wait)
      return RG_SUCCESS;
    int error = rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy());
    if (error == RG_ERR_TIMEOUT)
      start_waiting(b, &w);
    else if (error)
      return error;
    if (b->options.waiting && rgi_clock_now() - said > 0.05) {
      said = rgi_clock_now();
      b->options.waiting(b->options.context);
    }
  }
}

/* Puts the walkers that units have made on all lists, in the order of the processes. */
static int share_born(rg_balancer b) {
  for (int r = 0; r < b->members.size; r++)
    for (int i = 0; i < b->round.reports[r].born; i++)
      RGI_TRY(rgi_sync_share_walker(b, r, r == b->members.rank ? &b->work.born.at[i] : NULL));
  b->work.born.count = 0;
  return RG_SUCCESS;
}

/* Adds the time that this group has waited for the slowest. Clocks of two nodes are not compared.
 */
static void note_wait(rg_balancer b) {
  const rgi_round_report *reports = b->round.reports;
  b->work.walker.waited += rgi_node.count == 1
                               ? rgi_round_last(&b->round) - reports[b->team.ranks[0]].arrived
                               : rgi_clock_now() - reports[b->members.rank].arrived;
}

/* The walkers that the plan starts: some may wait since a death, and then their state is on one
 * node only (record_exchange.c). Its leader sends it to the leader of the group that starts the
 * walker. */
static int send_walker(rg_balancer b, const rgi_queue_entry *e, int to) {
  rgi_record_pack p = {0};
  int error = rgi_record_pack_add(&p, e->record);
  if (!error)
    error = rg_send(b->members.group, p.memory, (MPI_Count)(p.bytes / sizeof(int64_t)), MPI_INT64_T,
                    to, RGI_WIRE_WALKER);
  rgi_record_pack_free(&p);
  return error;
}

static int receive_walker(rg_balancer b, int from) {
  rgi_wire_received m;
  uint64_t record;
  RGI_TRY(rgi_wire_await(&b->wire, from, RGI_WIRE_WALKER, &m));
  int error =
      rgi_record_pack_take(&b->survival.index, m.words, (size_t)m.count * sizeof *m.words, &record);
  free(m.words);
  return error;
}

/* The process that has a waiting walker, or -1: each node has it. */
static int home_of(const rgi_queue_entry *e) {
  return e->record ? rgi_record_at(e->record)->home : -1;
}

/* Whether a process starts a walker of the list that is on another node. */
static int starts_from(const struct rg_balancer_s *b, int leader, int *home) {
  const rgi_membership *m = &b->members;
  int walker = b->round.starts[leader];
  *home = walker < 0 ? -1 : home_of(&b->list.at[walker]);
  return *home >= 0 && rgi_membership_node_of(m, *home) != rgi_membership_node_of(m, leader);
}

/* All processes go through the walkers in the same order, so that they do not wait in a circle. */
static int bring_walkers(rg_balancer b) {
  for (int r = 0, home; r < b->members.size; r++) {
    int moves = starts_from(b, r, &home);
    if (moves && home == b->members.rank)
      RGI_TRY(send_walker(b, &b->list.at[b->round.starts[r]], r));
    else if (moves && r == b->members.rank)
      RGI_TRY(receive_walker(b, home));
  }
  return RG_SUCCESS;
}

/* --- the new groups -------------------------------------------------------------------------- */

/* Takes the walkers that the plan starts off the list; number `mine` becomes *entry on its leader.
 */
static void take_walkers(rg_balancer b, int mine, rgi_queue_entry *entry) {
  for (int w = RGI_QUEUE_SHOWN < b->list.count ? RGI_QUEUE_SHOWN - 1 : b->list.count - 1; w >= 0;
       w--) {
    if (!rgi_planner_starts(&b->planner, w))
      continue;
    rgi_queue_entry e = rgi_queue_take(&b->list, w);
    if (w == mine && rgi_team_leads(&b->team))
      *entry = e;
    else
      free(e.memory);
  }
}

static int same_members(const rgi_team *c, int n, const int ranks[]) {
  return c->n == n && memcmp(c->ranks, ranks, (size_t)n * sizeof *ranks) == 0;
}

/* How many members of the present group keep its walker; they are the first ones. */
static int count_stayers(const struct rg_balancer_s *b) {
  int stay = 0;
  for (int i = 0; i < b->team.n; i++)
    stay += b->round.leader_of[b->team.ranks[i]] == b->team.ranks[0];
  return stay;
}

/* The members get another group: what is left of the walker's, or another one. */
static int change_team(rg_balancer b, int n, const int ranks[]) {
  int stay = count_stayers(b);
  if (b->work.working && stay < b->team.n)
    RGI_TRY(rgi_work_part(&b->work, stay));
  if (b->work.working && ranks[0] != b->team.ranks[0])
    rgi_work_leave(&b->work);
  rgi_team_mark(&b->team, RG_SPAN_REGROUP);
  RGI_TRY(rgi_team_form(&b->team, n, ranks));
  b->work.walker.waited = 0;
  rgi_team_mark(&b->team, RG_SPAN_REGROUP);
  return RG_SUCCESS;
}

/* This process becomes a member of its next group. */
static int become_member(rg_balancer b, int n, const int ranks[]) {
  int next, changed = !same_members(&b->team, n, ranks), walker = b->round.starts[ranks[0]];
  rgi_queue_entry entry = {0};
  double began = rgi_clock_now();
  if (changed)
    RGI_TRY(change_team(b, n, ranks));
  take_walkers(b, walker, &entry);
  if (changed && rgi_round_works(&b->round, ranks[0]))
    RGI_TRY(rgi_work_hand_over(&b->work));
  if (walker >= 0) {
    RGI_TRY(rgi_work_start(&b->work, &entry, &next));
    RGI_TRY(continue_walker(b, next));
  }
  if (!changed)
    return RG_SUCCESS;
  b->counts.forming += rgi_clock_now() - began;
  if (!b->work.working)
    become_idle(b);
  return RG_SUCCESS;
}

static int regroup_all(rg_balancer b) {
  rgi_round *r = &b->round;
  rgi_round_regroup(r, &b->planner);
  if (rgi_store_spans_nodes(&b->survival.store))
    RGI_TRY(bring_walkers(b));
  int n = rgi_round_list(r, r->leader_of[b->members.rank]);
  return become_member(b, n, r->ranks);
}

/* All groups are idle, and the policy starts none of the walkers that wait. If one needs more
 * processes than any group has, all become one group. *gathers: whether it is so. */
static int gather_all(rg_balancer b, int *gathers) {
  int64_t largest = 0;
  *gathers = 0;
  for (int row = 0; row < b->planner.row_count; row++)
    largest = b->planner.rows[row].ranks > largest ? b->planner.rows[row].ranks : largest;
  for (int i = 0; i < b->list.count; i++)
    *gathers |= b->list.at[i].least > largest && b->planner.row_count > 1;
  for (int row = 1; row < b->planner.row_count && *gathers; row++)
    RGI_TRY(rg_plan_add(&b->planner.plan,
                        &(rg_move){row, 0, b->planner.rows[row].ranks, RG_MOVE_NO_WALKER, {0}}));
  return RG_SUCCESS;
}

/* If they cannot be started by one group either, the first one fails. */
static int fail_waiting(rg_balancer b) {
  rgi_queue_entry e = rgi_queue_take(&b->list, 0);
  if (b->members.rank == (home_of(&e) < 0 ? 0 : home_of(&e)))
    return rgi_work_fail_waiting(&b->work, &e, rgi_planner_name(&b->planner));
  free(e.memory);
  return RG_SUCCESS;
}

static int any_group_works(const struct rg_balancer_s *b) {
  for (int i = 0; i < b->planner.row_count; i++)
    if (b->planner.rows[i].state & RG_LOAD_ACTIVE)
      return 1;
  return 0;
}

/* Works out and carries out what follows from the reports of all processes. */
static int conclude_round(rg_balancer b) {
  rg_load_table t;
  note_wait(b);
  if (rgi_round_due(&b->round))
    rgi_stop_note(b);
  if (rgi_round_born(&b->round))
    RGI_TRY(share_born(b));
  RGI_TRY(rgi_sync_meet(b));
  for (;;) {
    RGI_TRY(rgi_round_rows(&b->round, &b->planner));
    t = rgi_planner_table(&b->planner, b->list.at, b->list.count);
    t.self = RG_LOAD_ALL_ROWS;
    t.processors = rgi_node.count > 1 ? 0 : rgi_node.processors;
    for (int i = 0; i < t.waiting_count; i++)
      b->planner.waiting[i].awaited =
          rgi_meeting_list_awaits(rgi_round_aside(&b->round), b->planner.waiting[i].id);
    int working = any_group_works(b);
    if (!working && b->list.count == 0) {
      b->stage = RGI_BALANCER_DONE;
      return rgi_sync_end_asides(b);
    }
    RGI_TRY(rgi_planner_ask(&b->planner, &t));
    if (working || b->planner.plan.count > 0)
      return b->planner.plan.count ? regroup_all(b) : RG_SUCCESS;
    int gathers;
    RGI_TRY(gather_all(b, &gathers));
    if (gathers)
      return regroup_all(b);
    RGI_TRY(fail_waiting(b));
  }
}

static int exchange_reports(rg_balancer b, int wait, int *what) {
  int done;
  rgi_round *r = &b->round;
  if (!r->request) {
    fill_report(b, &r->own);
    rgi_team_mark(&b->team, b->work.working ? RG_SPAN_WAIT : RG_SPAN_IDLE);
    RGI_TRY(rg_iallgather(b->members.group, &r->own, sizeof r->own, MPI_BYTE, r->reports,
                          sizeof r->own, MPI_BYTE, &r->request));
  }
  RGI_TRY(await_round(b, wait, &done));
  *what = RG_BALANCE_IDLE;
  if (!done)
    return RG_SUCCESS;
  if (!b->work.working) {
    b->counts.idle += rgi_clock_now() - b->round.since;
    b->round.since = rgi_clock_now();
  }
  b->round.units = 0;
  RGI_TRY(conclude_round(b));
  *what = b->stage == RGI_BALANCER_DONE ? RG_BALANCE_DONE : RG_BALANCE_MOVED;
  return RG_SUCCESS;
}

int rgi_sync_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_buddy_serve(&b->survival.buddy));
  if (b->work.working && b->round.units < b->planner.policy.interval)
    return do_unit(b, what);
  return exchange_reports(b, wait, what);
}

int rgi_sync_begin(rg_balancer b) {
  int group = rgi_team_first_number(&b->team), next;
  int has = rgi_first_starts(b), started = rgi_first_starting(b);
  rgi_queue_entry mine = {0};
  RGI_TRY(rgi_round_open(&b->round, b->members.size));
  RGI_TRY(rgi_team_first(&b->team, rgi_first_head(b, group)));
  for (int i = 0; i < started; i++) {
    rgi_queue_entry e = b->list.at[i];
    if (has && i == group && rgi_team_leads(&b->team))
      mine = e;
    else
      free(e.memory);
  }
  b->list.count -= started;
  if (b->list.count > 0)
    memmove(b->list.at, b->list.at + started, (size_t)b->list.count * sizeof *b->list.at);
  if (!has) {
    become_idle(b);
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_work_start(&b->work, &mine, &next));
  return continue_walker(b, next);
}
