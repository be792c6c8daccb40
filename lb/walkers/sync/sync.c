/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing. After every i units of each group all processes exchange what their groups
 * have to do. From the same reports each process works out the same plan and the same new groups,
 * so that nothing more is sent (round.c). */
#include "walkers/sync/sync.h"

#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "progress/progress.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/team/meeting_list.h"

/* --- units ----------------------------------------------------------------------------- */

static int decide_next(void *of, rgi_work_decision *decision) {
  rg_balancer balancer = of;
  balancer->work.stopping |= rgi_balancer_stop_due(balancer);
  decision->kind = rgi_work_next(&balancer->work);
  return RG_SUCCESS;
}

static void become_idle(rg_balancer balancer) {
  balancer->round.since = rgi_clock_now();
  rgi_team_mark(&balancer->team, RG_SPAN_IDLE);
}

static int continue_walker(rg_balancer balancer, int next) {
  if (next == RGI_WORK_FINISH)
    RGI_TRY(rgi_work_finish(&balancer->work));
  if (next == RGI_WORK_MEET)
    RGI_TRY(rgi_sync_set_aside(balancer));
  if (!balancer->work.working)
    become_idle(balancer);
  return RG_SUCCESS;
}

static int do_unit(rg_balancer balancer, int *what) {
  rgi_work_decision next;
  balancer->round.units++;
  RGI_TRY(rgi_work_unit(&balancer->work, decide_next, balancer, &next));
  *what = next.kind == RGI_WORK_GO_ON ? RG_BALANCE_WORKED : RG_BALANCE_MOVED;
  return continue_walker(balancer, (int)next.kind);
}

/* --- the exchange -------------------------------------------------------------------------- */

static void fill_report(rg_balancer balancer, rgi_round_report *report) {
  const rgi_work *work = &balancer->work;
  int may = work->may & (RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE);
  balancer->work.stopping |= rgi_balancer_stop_due(balancer);
  *report = (rgi_round_report){.leader = balancer->team.ranks[0],
                               .lowest = balancer->team.lowest,
                               .born = work->born.count,
                               .aside = balancer->round.has_brought,
                               .due = work->stopping,
                               .arrived = rgi_clock_now(),
                               .load = rgi_work_load(work, work->working ? may : RG_LOAD_JOINABLE)};
  if (work->working)
    report->load.awaited =
        rgi_meeting_list_awaits(rgi_round_aside(&balancer->round), work->walker.id);
}

/* The units of other groups may take any time: RG_TIMEOUT does not end the wait. */
static void start_waiting(const struct rg_balancer_s *balancer, rgi_wait *waiting) {
  rgi_membership_start_wait(&balancer->members, "the end of a round", waiting);
}

/* Tests whether the reports of all processes are here; with `wait`, waits for them. */
static int await_round(rg_balancer balancer, int wait, int *done) {
  rgi_wait waiting;
  double said = 0;
  *done = 0;
  start_waiting(balancer, &waiting);
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_buddy_serve(&balancer->survival.buddy));
    RGI_TRY(rg_test(&balancer->round.request, done, NULL));
    if (*done || !wait)
      return RG_SUCCESS;
    int error = rgi_wait_bell(&waiting, rgi_node_bell(), bell, !rgi_progress_busy());
    if (error == RG_ERR_TIMEOUT)
      start_waiting(balancer, &waiting);
    else if (error)
      return error;
    if (balancer->options.waiting && rgi_clock_now() - said > 0.05) {
      said = rgi_clock_now();
      balancer->options.waiting(balancer->options.context);
    }
  }
}

/* Puts the walkers that units have made on all lists, in the order of the processes. */
static int share_born(rg_balancer balancer) {
  for (int r = 0; r < balancer->members.size; r++)
    for (int i = 0; i < balancer->round.reports[r].born; i++)
      RGI_TRY(rgi_sync_share_walker(
          balancer, r, r == balancer->members.rank ? &balancer->work.born.at[i] : NULL));
  balancer->work.born.count = 0;
  return RG_SUCCESS;
}

/* Adds the time that this group has waited for the slowest. Clocks of two nodes are not compared.
 */
static void note_wait(rg_balancer balancer) {
  const rgi_round_report *reports = balancer->round.reports;
  balancer->work.walker.waited +=
      rgi_node.count == 1
          ? rgi_round_last(&balancer->round) - reports[balancer->team.ranks[0]].arrived
          : rgi_clock_now() - reports[balancer->members.rank].arrived;
}

/* The walkers that the plan starts: some may wait since a death, and then their state is on one
 * node only (record_exchange.c). Its leader sends it to the leader of the group that starts the
 * walker. */
static int send_walker(rg_balancer balancer, const rgi_queue_entry *entry, int to) {
  rgi_record_pack pack = {0};
  int error = rgi_record_pack_add(&pack, entry->record);
  if (!error)
    error = rg_send(balancer->members.group, pack.memory, (MPI_Count)(pack.bytes / sizeof(int64_t)),
                    MPI_INT64_T, to, RGI_WIRE_WALKER);
  rgi_record_pack_free(&pack);
  return error;
}

static int receive_walker(rg_balancer balancer, int from) {
  rgi_wire_received received;
  uint64_t record;
  RGI_TRY(rgi_wire_await(&balancer->wire, from, RGI_WIRE_WALKER, &received));
  int error = rgi_record_pack_take(&balancer->survival.index, received.words,
                                   (size_t)received.count * sizeof *received.words, &record);
  rgi_spare_free(received.words);
  return error;
}

/* The process that has a waiting walker, or -1: each node has it. */
static int home_of(const rgi_queue_entry *entry) {
  return entry->record ? rgi_record_at(entry->record)->home : -1;
}

/* Whether a process starts a walker of the list that is on another node. */
static int starts_from(const struct rg_balancer_s *balancer, int leader, int *home) {
  const rgi_membership *members = &balancer->members;
  int walker = balancer->round.starts[leader];
  *home = walker < 0 ? -1 : home_of(&balancer->list.at[walker]);
  return *home >= 0 &&
         rgi_membership_node_of(members, *home) != rgi_membership_node_of(members, leader);
}

/* All processes go through the walkers in the same order, so that they do not wait in a circle. */
static int bring_walkers(rg_balancer balancer) {
  for (int r = 0, home; r < balancer->members.size; r++) {
    int moves = starts_from(balancer, r, &home);
    if (moves && home == balancer->members.rank)
      RGI_TRY(send_walker(balancer, &balancer->list.at[balancer->round.starts[r]], r));
    else if (moves && r == balancer->members.rank)
      RGI_TRY(receive_walker(balancer, home));
  }
  return RG_SUCCESS;
}

/* --- the new groups -------------------------------------------------------------------------- */

/* Takes the walkers that the plan starts off the list; number `mine` becomes *entry on its leader.
 */
static void take_walkers(rg_balancer balancer, int mine, rgi_queue_entry *entry) {
  for (int w = RGI_QUEUE_SHOWN < balancer->list.count ? RGI_QUEUE_SHOWN - 1
                                                      : balancer->list.count - 1;
       w >= 0; w--) {
    if (!rgi_planner_starts(&balancer->planner, w))
      continue;
    rgi_queue_entry taken = rgi_queue_take(&balancer->list, w);
    if (w == mine && rgi_team_leads(&balancer->team))
      *entry = taken;
    else
      rgi_spare_free(taken.memory);
  }
}

static int same_members(const rgi_team *team, int n, const int ranks[]) {
  return team->n == n && memcmp(team->ranks, ranks, (size_t)n * sizeof *ranks) == 0;
}

/* How many members of the present group keep its walker; they are the first ones. */
static int count_stayers(const struct rg_balancer_s *balancer) {
  int stay = 0;
  for (int i = 0; i < balancer->team.n; i++)
    stay += balancer->round.leader_of[balancer->team.ranks[i]] == balancer->team.ranks[0];
  return stay;
}

/* The members get another group: what is left of the walker's, or another one. */
static int change_team(rg_balancer balancer, int n, const int ranks[]) {
  int stay = count_stayers(balancer);
  if (balancer->work.working && stay < balancer->team.n)
    RGI_TRY(rgi_work_part(&balancer->work, stay));
  if (balancer->work.working && ranks[0] != balancer->team.ranks[0])
    rgi_work_leave(&balancer->work);
  rgi_team_mark(&balancer->team, RG_SPAN_REGROUP);
  RGI_TRY(rgi_team_form(&balancer->team, n, ranks));
  balancer->work.walker.waited = 0;
  rgi_team_mark(&balancer->team, RG_SPAN_REGROUP);
  return RG_SUCCESS;
}

/* This process becomes a member of its next group. */
static int become_member(rg_balancer balancer, int n, const int ranks[]) {
  int next, changed = !same_members(&balancer->team, n, ranks),
            walker = balancer->round.starts[ranks[0]];
  rgi_queue_entry entry = {0};
  double began = rgi_clock_now();
  if (changed)
    RGI_TRY(change_team(balancer, n, ranks));
  take_walkers(balancer, walker, &entry);
  if (changed && rgi_round_works(&balancer->round, ranks[0]))
    RGI_TRY(rgi_work_hand_over(&balancer->work));
  if (walker >= 0) {
    RGI_TRY(rgi_work_start(&balancer->work, &entry, &next));
    RGI_TRY(continue_walker(balancer, next));
  }
  if (!changed)
    return RG_SUCCESS;
  balancer->counts.forming += rgi_clock_now() - began;
  if (!balancer->work.working)
    become_idle(balancer);
  return RG_SUCCESS;
}

static int regroup_all(rg_balancer balancer) {
  rgi_round *round = &balancer->round;
  rgi_round_regroup(round, &balancer->planner);
  if (rgi_store_spans_nodes(&balancer->survival.store))
    RGI_TRY(bring_walkers(balancer));
  int n = rgi_round_list(round, round->leader_of[balancer->members.rank]);
  return become_member(balancer, n, round->ranks);
}

/* All groups are idle, and the policy starts none of the walkers that wait. If one needs more
 * processes than any group has, all become one group. *gathers: whether it is so. */
static int gather_all(rg_balancer balancer, int *gathers) {
  int64_t largest = 0;
  *gathers = 0;
  for (int row = 0; row < balancer->planner.row_count; row++)
    largest =
        balancer->planner.rows[row].ranks > largest ? balancer->planner.rows[row].ranks : largest;
  for (int i = 0; i < balancer->list.count; i++)
    *gathers |= balancer->list.at[i].least > largest && balancer->planner.row_count > 1;
  for (int row = 1; row < balancer->planner.row_count && *gathers; row++)
    RGI_TRY(
        rg_plan_add(&balancer->planner.plan, &(rg_move){.from = row,
                                                        .to = 0,
                                                        .ranks = balancer->planner.rows[row].ranks,
                                                        .walker = RG_MOVE_NO_WALKER}));
  return RG_SUCCESS;
}

/* If they cannot be started by one group either, the first one fails. */
static int fail_waiting(rg_balancer balancer) {
  rgi_queue_entry entry = rgi_queue_take(&balancer->list, 0);
  if (balancer->members.rank == (home_of(&entry) < 0 ? 0 : home_of(&entry)))
    return rgi_work_fail_waiting(&balancer->work, &entry, rgi_planner_name(&balancer->planner));
  rgi_spare_free(entry.memory);
  return RG_SUCCESS;
}

static int any_group_works(const struct rg_balancer_s *balancer) {
  for (int i = 0; i < balancer->planner.row_count; i++)
    if (balancer->planner.rows[i].state & RG_LOAD_ACTIVE)
      return 1;
  return 0;
}

/* Works out and carries out what follows from the reports of all processes. */
static int conclude_round(rg_balancer balancer) {
  rg_load_table table;
  note_wait(balancer);
  if (rgi_round_due(&balancer->round))
    rgi_balancer_stop_note(balancer);
  if (rgi_round_born(&balancer->round))
    RGI_TRY(share_born(balancer));
  RGI_TRY(rgi_sync_meet(balancer));
  for (;;) {
    RGI_TRY(rgi_round_rows(&balancer->round, &balancer->planner));
    table = rgi_planner_table(&balancer->planner, balancer->list.at, balancer->list.count);
    table.self = RG_LOAD_ALL_ROWS;
    table.processors = rgi_node.count > 1 ? 0 : rgi_node.processors;
    for (int i = 0; i < table.waiting_count; i++)
      balancer->planner.waiting[i].awaited = rgi_meeting_list_awaits(
          rgi_round_aside(&balancer->round), balancer->planner.waiting[i].id);
    int working = any_group_works(balancer);
    if (!working && balancer->list.count == 0) {
      balancer->stage = RGI_BALANCER_DONE;
      return rgi_sync_end_asides(balancer);
    }
    RGI_TRY(rgi_planner_ask(&balancer->planner, &table));
    if (working || balancer->planner.plan.count > 0)
      return balancer->planner.plan.count ? regroup_all(balancer) : RG_SUCCESS;
    int gathers;
    RGI_TRY(gather_all(balancer, &gathers));
    if (gathers)
      return regroup_all(balancer);
    RGI_TRY(fail_waiting(balancer));
  }
}

static int exchange_reports(rg_balancer balancer, int wait, int *what) {
  int done;
  rgi_round *round = &balancer->round;
  if (!round->request) {
    fill_report(balancer, &round->own);
    rgi_team_mark(&balancer->team, balancer->work.working ? RG_SPAN_WAIT : RG_SPAN_IDLE);
    RGI_TRY(rg_iallgather(balancer->members.group, &round->own, sizeof round->own, MPI_BYTE,
                          round->reports, sizeof round->own, MPI_BYTE, &round->request));
  }
  RGI_TRY(await_round(balancer, wait, &done));
  *what = RG_BALANCE_IDLE;
  if (!done)
    return RG_SUCCESS;
  if (!balancer->work.working) {
    balancer->counts.idle += rgi_clock_now() - balancer->round.since;
    balancer->round.since = rgi_clock_now();
  }
  balancer->round.units = 0;
  RGI_TRY(conclude_round(balancer));
  *what = balancer->stage == RGI_BALANCER_DONE ? RG_BALANCE_DONE : RG_BALANCE_MOVED;
  return RG_SUCCESS;
}

int rgi_sync_step(rg_balancer balancer, int wait, int *what) {
  RGI_TRY(rgi_buddy_serve(&balancer->survival.buddy));
  if (balancer->work.working && balancer->round.units < balancer->planner.policy.interval)
    return do_unit(balancer, what);
  return exchange_reports(balancer, wait, what);
}

int rgi_sync_begin(rg_balancer balancer) {
  int group = rgi_team_first_number(&balancer->team), next;
  int has = rgi_first_starts(balancer), started = rgi_first_starting(balancer);
  rgi_queue_entry mine = {0};
  RGI_TRY(rgi_round_open(&balancer->round, balancer->members.size));
  RGI_TRY(rgi_team_first(&balancer->team, rgi_first_head(balancer, group)));
  for (int i = 0; i < started; i++) {
    rgi_queue_entry entry = balancer->list.at[i];
    if (has && i == group && rgi_team_leads(&balancer->team))
      mine = entry;
    else
      rgi_spare_free(entry.memory);
  }
  balancer->list.count -= started;
  if (balancer->list.count > 0)
    memmove(balancer->list.at, balancer->list.at + started,
            (size_t)balancer->list.count * sizeof *balancer->list.at);
  if (!has) {
    become_idle(balancer);
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_work_start(&balancer->work, &mine, &next));
  return continue_walker(balancer, next);
}

/* --- sharing a walker ------------------------------------------------------------------------- */

/* In a job that survives on several nodes a walker goes with its packed record. */
int rgi_sync_share_entry(rg_balancer balancer, int r, rgi_queue_entry *entry) {
  int own = r == balancer->members.rank;
  void *memory = entry->memory;
  int error = rg_bcast(balancer->members.group, entry, sizeof *entry, MPI_BYTE, r),
      more = entry->memory != NULL;
  entry->memory = memory;
  if (error || !more)
    return error;
  if (!own && !(entry->memory = rgi_spare_alloc(entry->bytes ? entry->bytes : 1)))
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", entry->bytes);
  return rg_bcast(balancer->members.group, entry->memory, (MPI_Count)entry->bytes, MPI_BYTE, r);
}

int rgi_sync_share_walker(rg_balancer balancer, int r, rgi_queue_entry *own) {
  rgi_queue_entry entry = {0};
  int error = RG_SUCCESS;
  if (own) {
    entry = *own;
    own->memory = NULL;
  }
  if (own && rgi_store_spans_nodes(&balancer->survival.store))
    error = rgi_record_pack_attach(&balancer->survival.store, &entry);
  if (!error)
    error = rgi_sync_share_entry(balancer, r, &entry);
  if (!error)
    error = rgi_queue_insert(&balancer->list, &entry);
  if (error)
    rgi_spare_free(entry.memory);
  return error;
}
