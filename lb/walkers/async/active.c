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
#include "walkers/async/active.h"
#include "walkers/async/meeting_step.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/stop.h"
#include "walkers/work/own_load.h"

/* With the lock held: how many processes the policy takes from this group. */
static int ask_active(rg_balancer b, int64_t *leave) {
  rg_load_table t;
  *leave = 0;
  b->async.search.seen = b->async.board.shared->version;
  RGI_TRY(rgi_planner_read_board(&b->async.board, &b->async.nodes.loads, &b->planner, &t));
  RGI_TRY(rgi_planner_ask(&b->planner, &t));
  for (int i = 0; i < b->planner.plan.count; i++)
    *leave += b->planner.plan.move[i].ranks;
  return RG_SUCCESS;
}

/* Whether the policy is to be asked about this group now: when units have been measured at a new
 * size; and when walkers wait and something has changed since it was asked. Not while processes
 * that another group has released are on their way to these walkers. */
static int asks_now(rg_balancer b) {
  const rgi_board_shared *board = b->async.board.shared;
  int waits = board->count > 0 && !board->leaving && board->version != b->async.search.seen;
  return (b->planner.policy.asks & RG_POLICY_ASKS_ACTIVE) && (b->work.measured || waits) &&
         rgi_work_leavable(&b->work) && b->work.left != 1;
}

static int decide_locked(rg_balancer b, rgi_work_decision *d) {
  int processes;
  RGI_TRY(rgi_join_choose(&b->async.join, &processes));
  if (rgi_own_load_write(&b->async.board, &b->work,
                         rgi_own_load_coming(&b->async.board) - processes))
    rgi_board_changed(&b->async.board);
  b->async.board.shared->units++;
  if (processes)
    *d = (rgi_work_decision){RGI_WORK_MERGE, processes};
  else if (asks_now(b)) {
    RGI_TRY(ask_active(b, &d->count));
    d->kind = d->count ? RGI_WORK_RELEASE : RGI_WORK_GO_ON;
    b->async.board.shared->leaving += d->count;
  }
  return RG_SUCCESS;
}

static int decide_next(void *of, rgi_work_decision *d) {
  rg_balancer b = of;
  RGI_TRY(rgi_join_serve(&b->async.join));
  RGI_TRY(rgi_stop_look(b));
  RGI_TRY(rgi_meeting_step_serve(b));
  d->kind = rgi_work_next(&b->work);
  if (d->kind != RGI_WORK_GO_ON)
    return RG_SUCCESS;
  RGI_TRY(rgi_board_lock(&b->async.board));
  int error = decide_locked(b, d);
  rgi_board_unlock(&b->async.board);
  return error;
}

/* The row of the group. A group that has something to do is nothing that others wait for: their
 * policies knew it when it was decided. */
static int note_idle(rg_balancer b, int ended, int has_task) {
  b->async.board.stamp++;
  RGI_TRY(rgi_board_lock(&b->async.board));
  b->work.new_size = 0;
  int changed = rgi_own_load_write(&b->async.board, &b->work, 0);
  if (ended)
    b->async.board.shared->open--;
  if (ended || (changed && !has_task))
    rgi_board_changed(&b->async.board);
  int error = rgi_internode_check_end(&b->async.nodes);
  rgi_board_unlock(&b->async.board);
  return error;
}

int rgi_active_become_idle(rg_balancer b, int ended, const rgi_search_part *task) {
  rgi_search_begin(&b->async.search);
  if (task)
    b->async.search.part = *task;
  b->async.join.gathers = 0;
  rgi_team_mark(&b->team, RG_SPAN_IDLE);
  if (!rgi_team_leads(&b->team))
    return RG_SUCCESS;
  RGI_TRY(note_idle(b, ended, task && (task->target >= 0 || task->starts)));
  return rgi_join_refuse_all(&b->async.join);
}

static int set_aside(rg_balancer b) {
  int failed = 0;
  RGI_TRY(rgi_meeting_step_aside(b, &failed));
  RGI_TRY(rgi_active_become_idle(b, failed, NULL));
  return rgi_meeting_step_serve(b);
}

int rgi_active_continue(rg_balancer b, int next) {
  if (next == RGI_WORK_FINISH) {
    RGI_TRY(rgi_work_finish(&b->work));
    return rgi_active_become_idle(b, 1, NULL);
  }
  if (next == RGI_WORK_MEET)
    return set_aside(b);
  if (next == RGI_WORK_FAIL || !b->work.working)
    return rgi_active_become_idle(b, 1, NULL);
  return rgi_own_load_publish(&b->async.board, &b->work);
}

int rgi_active_merge(rg_balancer b, int n, const int ranks[]) {
  RGI_TRY(rgi_team_form(&b->team, n, ranks));
  rgi_team_mark(&b->team, RG_SPAN_REGROUP);
  RGI_TRY(rgi_work_hand_over(&b->work));
  return RG_SUCCESS;
}

static int note_merge(rg_balancer b, double seconds) {
  RGI_TRY(rgi_board_lock(&b->async.board));
  double *mean = &b->async.board.shared->merge;
  *mean = *mean > 0 ? 0.75 * *mean + 0.25 * seconds : seconds;
  rgi_board_unlock(&b->async.board);
  return RG_SUCCESS;
}

static int merge_joiners(rg_balancer b, int joining) {
  int old = b->team.n, n = old + joining, error = RG_SUCCESS;
  double began = rgi_clock_now();
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  rgi_team_mark(&b->team, RG_SPAN_REGROUP);
  if (rgi_team_leads(&b->team))
    error = rgi_join_accept(&b->async.join, RGI_JOIN_WORKING, n, ranks);
  if (!error)
    error = rg_bcast(b->team.own, ranks, n, MPI_INT, 0);
  if (!error)
    error = rgi_active_merge(b, n, ranks);
  free(ranks);
  RGI_TRY(error);
  b->counts.forming += rgi_clock_now() - began;
  if (rgi_team_leads(&b->team))
    RGI_TRY(note_merge(b, rgi_clock_now() - began));
  return rgi_active_continue(b, RGI_WORK_GO_ON);
}

/* They look for work by now. */
static int note_left(rg_balancer b, int leaving) {
  RGI_TRY(rgi_board_lock(&b->async.board));
  b->async.board.shared->leaving -= leaving;
  rgi_board_unlock(&b->async.board);
  return RG_SUCCESS;
}

/* The last `leaving` members leave and become a group without work. */
static int release_members(rg_balancer b, int leaving) {
  int stay = b->team.n - leaving, stays = b->team.me < stay;
  rgi_team_mark(&b->team, RG_SPAN_REGROUP);
  RGI_TRY(rgi_work_part(&b->work, stay));
  if (!stays)
    rgi_work_leave(&b->work);
  RGI_TRY(rgi_team_part(&b->team, stays ? 0 : stay, stays ? stay : leaving));
  if (!stays)
    return rgi_active_become_idle(b, 0, NULL);
  RGI_TRY(rgi_work_hand_over(&b->work));
  if (rgi_team_leads(&b->team))
    RGI_TRY(note_left(b, leaving));
  return rgi_active_continue(b, RGI_WORK_GO_ON);
}

int rgi_active_step(rg_balancer b, int *what) {
  rgi_work_decision next;
  if (!rgi_team_leads(&b->team))
    RGI_TRY(rgi_stop_look(b));
  RGI_TRY(rgi_work_unit(&b->work, decide_next, b, &next));
  *what = next.kind == RGI_WORK_GO_ON ? RG_BALANCE_WORKED : RG_BALANCE_MOVED;
  /* Not between the choice of the groups that join and the merge with them. */
  if (!rgi_team_leads(&b->team) || (b->work.kind.alike && next.kind != RGI_WORK_MERGE))
    RGI_TRY(rgi_join_serve(&b->async.join));
  if (next.kind == RGI_WORK_MERGE)
    return merge_joiners(b, (int)next.count);
  if (next.kind == RGI_WORK_RELEASE)
    return release_members(b, (int)next.count);
  return next.kind == RGI_WORK_GO_ON ? RG_SUCCESS : rgi_active_continue(b, (int)next.kind);
}
