/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group with a walker. After each unit the leader decides under the load
 * board's lock: processes that have asked to join are merged into the group; or the policy takes
 * members away, where it asks about groups at work; or the group goes on. The decision reaches the
 * members with the words by which they agree about the unit (work.c). */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "walkers/async/active.h"
#include "walkers/async/meeting_step.h"
#include "walkers/state/balancer_state.h"
#include "walkers/work/own_load.h"

/* With the lock held: how many processes the policy takes from this group. */
static int ask_active(rg_balancer balancer, int64_t *leave) {
  rg_load_table table;
  *leave = 0;
  balancer->async.search.seen = balancer->async.board.shared->version;
  RGI_TRY(rgi_planner_read_board(&balancer->async.board, &balancer->async.nodes.loads,
                                 &balancer->planner, &table));
  RGI_TRY(rgi_planner_ask(&balancer->planner, &table));
  for (int i = 0; i < balancer->planner.plan.count; i++)
    *leave += balancer->planner.plan.move[i].ranks;
  return RG_SUCCESS;
}

/* Whether the policy is to be asked about this group now: when units have been measured at a new
 * size; and when walkers wait and something has changed since it was asked. Not while processes
 * that another group has released are on their way to these walkers. */
static int asks_now(rg_balancer balancer) {
  const rgi_board_shared *board = balancer->async.board.shared;
  int waits = board->count > 0 && !board->leaving && board->version != balancer->async.search.seen;
  return (balancer->planner.policy.asks & RG_POLICY_ASKS_ACTIVE) &&
         (balancer->work.measured || waits) && rgi_work_leavable(&balancer->work) &&
         balancer->work.left != 1;
}

static int decide_locked(rg_balancer balancer, rgi_work_decision *decision) {
  int processes;
  RGI_TRY(rgi_join_choose(&balancer->async.join, &processes));
  if (rgi_own_load_write(&balancer->async.board, &balancer->work,
                         rgi_own_load_coming(&balancer->async.board) - processes))
    rgi_board_changed(&balancer->async.board);
  balancer->async.board.shared->units++;
  if (processes)
    *decision = (rgi_work_decision){RGI_WORK_MERGE, processes};
  else if (asks_now(balancer)) {
    RGI_TRY(ask_active(balancer, &decision->count));
    decision->kind = decision->count ? RGI_WORK_RELEASE : RGI_WORK_GO_ON;
    balancer->async.board.shared->leaving += decision->count;
  }
  return RG_SUCCESS;
}

static int decide_next(void *of, rgi_work_decision *decision) {
  rg_balancer balancer = of;
  RGI_TRY(rgi_join_serve(&balancer->async.join));
  RGI_TRY(rgi_balancer_stop_look(balancer));
  RGI_TRY(rgi_meeting_step_serve(balancer));
  decision->kind = rgi_work_next(&balancer->work);
  if (decision->kind != RGI_WORK_GO_ON)
    return RG_SUCCESS;
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  int error = decide_locked(balancer, decision);
  rgi_board_unlock(&balancer->async.board);
  return error;
}

/* The row of the group. A group that has something to do is nothing that others wait for: their
 * policies knew it when it was decided. */
static int note_idle(rg_balancer balancer, int ended, int has_task) {
  balancer->async.board.stamp++;
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  balancer->work.new_size = 0;
  int changed = rgi_own_load_write(&balancer->async.board, &balancer->work, 0);
  if (ended)
    balancer->async.board.shared->open--;
  if (ended || (changed && !has_task))
    rgi_board_changed(&balancer->async.board);
  int error = rgi_internode_check_end(&balancer->async.nodes);
  rgi_board_unlock(&balancer->async.board);
  return error;
}

int rgi_active_become_idle(rg_balancer balancer, int ended, const rgi_search_part *task) {
  rgi_search_begin(&balancer->async.search);
  if (task)
    balancer->async.search.part = *task;
  balancer->async.join.gathers = 0;
  rgi_team_mark(&balancer->team, RG_SPAN_IDLE);
  if (!rgi_team_leads(&balancer->team))
    return RG_SUCCESS;
  RGI_TRY(note_idle(balancer, ended, task && (task->target >= 0 || task->starts)));
  return rgi_join_refuse_all(&balancer->async.join);
}

static int set_aside(rg_balancer balancer) {
  int failed = 0;
  RGI_TRY(rgi_meeting_step_aside(balancer, &failed));
  RGI_TRY(rgi_active_become_idle(balancer, failed, NULL));
  return rgi_meeting_step_serve(balancer);
}

int rgi_active_continue(rg_balancer balancer, int next) {
  if (next == RGI_WORK_FINISH) {
    RGI_TRY(rgi_work_finish(&balancer->work));
    return rgi_active_become_idle(balancer, 1, NULL);
  }
  if (next == RGI_WORK_MEET)
    return set_aside(balancer);
  if (next == RGI_WORK_FAIL || !balancer->work.working)
    return rgi_active_become_idle(balancer, 1, NULL);
  return rgi_own_load_publish(&balancer->async.board, &balancer->work);
}

int rgi_active_merge(rg_balancer balancer, int n, const int ranks[]) {
  RGI_TRY(rgi_team_form(&balancer->team, n, ranks));
  rgi_team_mark(&balancer->team, RG_SPAN_REGROUP);
  RGI_TRY(rgi_work_hand_over(&balancer->work));
  return RG_SUCCESS;
}

static int note_merge(rg_balancer balancer, double seconds) {
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  double *mean = &balancer->async.board.shared->merge;
  *mean = *mean > 0 ? 0.75 * *mean + 0.25 * seconds : seconds;
  rgi_board_unlock(&balancer->async.board);
  return RG_SUCCESS;
}

static int merge_joiners(rg_balancer balancer, int joining) {
  int old = balancer->team.n, n = old + joining, error = RG_SUCCESS;
  double began = rgi_clock_now();
  int *ranks = rgi_spare_alloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  rgi_team_mark(&balancer->team, RG_SPAN_REGROUP);
  if (rgi_team_leads(&balancer->team))
    error = rgi_join_accept(&balancer->async.join, RGI_JOIN_WORKING, n, ranks);
  if (!error)
    error = rg_bcast(balancer->team.own, ranks, n, MPI_INT, 0);
  if (!error)
    error = rgi_active_merge(balancer, n, ranks);
  rgi_spare_free(ranks);
  RGI_TRY(error);
  balancer->counts.forming += rgi_clock_now() - began;
  if (rgi_team_leads(&balancer->team))
    RGI_TRY(note_merge(balancer, rgi_clock_now() - began));
  return rgi_active_continue(balancer, RGI_WORK_GO_ON);
}

/* They look for work by now. */
static int note_left(rg_balancer balancer, int leaving) {
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  balancer->async.board.shared->leaving -= leaving;
  rgi_board_unlock(&balancer->async.board);
  return RG_SUCCESS;
}

/* The last `leaving` members leave and become a group without work. */
static int release_members(rg_balancer balancer, int leaving) {
  int stay = balancer->team.n - leaving, stays = balancer->team.me < stay;
  rgi_team_mark(&balancer->team, RG_SPAN_REGROUP);
  RGI_TRY(rgi_work_part(&balancer->work, stay));
  if (!stays)
    rgi_work_leave(&balancer->work);
  RGI_TRY(rgi_team_part(&balancer->team, stays ? 0 : stay, stays ? stay : leaving));
  if (!stays)
    return rgi_active_become_idle(balancer, 0, NULL);
  RGI_TRY(rgi_work_hand_over(&balancer->work));
  if (rgi_team_leads(&balancer->team))
    RGI_TRY(note_left(balancer, leaving));
  return rgi_active_continue(balancer, RGI_WORK_GO_ON);
}

int rgi_active_step(rg_balancer balancer, int *what) {
  rgi_work_decision next;
  if (!rgi_team_leads(&balancer->team))
    RGI_TRY(rgi_balancer_stop_look(balancer));
  RGI_TRY(rgi_work_unit(&balancer->work, decide_next, balancer, &next));
  *what = next.kind == RGI_WORK_GO_ON ? RG_BALANCE_WORKED : RG_BALANCE_MOVED;
  /* Not between the choice of the groups that join and the merge with them. */
  if (!rgi_team_leads(&balancer->team) ||
      (balancer->work.kind.alike && next.kind != RGI_WORK_MERGE))
    RGI_TRY(rgi_join_serve(&balancer->async.join));
  if (next.kind == RGI_WORK_MERGE)
    return merge_joiners(balancer, (int)next.count);
  if (next.kind == RGI_WORK_RELEASE)
    return release_members(balancer, (int)next.count);
  return next.kind == RGI_WORK_GO_ON ? RG_SUCCESS : rgi_active_continue(balancer, (int)next.kind);
}
