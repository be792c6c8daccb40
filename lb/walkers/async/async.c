/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing. A group without work asks the policy, and then asks one group at work
 * whether it may join. A leader at work looks for requests after each unit and accepts or refuses
 * them all; a leader without work refuses at once. So a group without work waits only for groups at
 * work. A group at work waits only for groups whose requests it has accepted, and these wait for
 * that answer. So there is no circle of waiting. docs/rationale.md has the argument. */
#include <regroup/collectives.h>

#include "base/error.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/async/active.h"
#include "walkers/async/async.h"
#include "walkers/async/idle.h"
#include "walkers/async/meeting_step.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/work/own_load.h"

int rgi_async_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_meeting_step_serve(b));
  if (b->work.working)
    RGI_TRY(rgi_active_step(b, what));
  else
    RGI_TRY(rgi_idle_step(b, wait, what));
  if (b->stage == RGI_BALANCER_DONE)
    *what = RG_BALANCE_DONE;
  return RG_SUCCESS;
}

/* --- begin and end ---------------------------------------------------------------------------- */

/* Writes the rows and the walkers that wait, before any process reads them. */
static int lay_out(rg_balancer b, int group) {
  int has = rgi_first_starts(b);
  b->work.working = has;
  b->work.left = has ? b->list.at[group].left : 0;
  b->work.may = RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE;
  b->work.unit = RG_LOAD_UNKNOWN;
  b->async.board.stamp = has;
  RGI_TRY(rgi_board_lock(&b->async.board));
  if (rgi_team_leads(&b->team)) {
    rgi_own_load_write(&b->async.board, &b->work, 0);
    b->async.board.shared->open += has;
  }
  int error = rgi_internode_deal(&b->async.nodes, &b->list, rgi_first_starting(b));
  rgi_board_unlock(&b->async.board);
  b->work.working = 0;
  return error;
}

/* A node may have no walker at all: then it returns its credit now. */
static int first_quiet(rg_balancer b) {
  RGI_TRY(rgi_board_lock(&b->async.board));
  int error = rgi_internode_check_end(&b->async.nodes);
  rgi_board_unlock(&b->async.board);
  return error;
}

int rgi_async_begin(rg_balancer b) {
  int group = rgi_team_first_number(&b->team), next;
  RGI_TRY(rgi_board_open(&b->async.board));
  RGI_TRY(rgi_internode_open(&b->async.nodes));
  RGI_TRY(rgi_team_first(&b->team, rgi_first_head(b, group)));
  RGI_TRY(lay_out(b, group));
  RGI_TRY(rg_barrier(b->members.group));
  RGI_TRY(first_quiet(b));
  if (!rgi_first_starts(b))
    return rgi_active_become_idle(b, 0, NULL);
  rgi_queue_entry mine = b->list.at[group];
  if (rgi_team_leads(&b->team))
    b->list.at[group].memory = NULL; /* it is the walker's; the others' copies stay in the list */
  RGI_TRY(rgi_work_start(&b->work, &mine, &next));
  return rgi_active_continue(b, next);
}

/* Serves until the request is complete; without one, until all own messages are answered. Other
 * processes may still ask something. */
static int serve_until(rg_balancer b, rg_request *request) {
  rgi_wait w;
  rgi_wait_start(&w, "the end of all walkers", -1);
  rgi_membership_scope(&b->members, &w);
  for (;;) {
    int done = 0;
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_requests_progress_all());
    RGI_TRY(rgi_join_serve(&b->async.join));
    if (request)
      RGI_TRY(rg_test(request, &done, NULL));
    if (request ? done
                : !rgi_internode_asked(&b->async.nodes) && !rgi_buddy_waits(&b->survival.buddy))
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy()));
  }
}

/* On a node without a leader no process has seen that the walkers there cannot go on. Their copies
 * would find no receiver now. */
static int end_asides(rg_balancer b) {
  if (!b->async.board.shared || !b->async.board.shared->aside)
    return RG_SUCCESS;
  rgi_buddy_close(&b->survival.buddy);
  RGI_TRY(rgi_board_lock(&b->async.board));
  int error = rgi_meeting_step_end(b);
  rgi_board_unlock(&b->async.board);
  return error;
}

/* The barrier is kept in b->async.end, so that restart.c can end it before it frees the group: a
 * death may be seen while it is open. */
int rgi_async_end(rg_balancer b) {
  RGI_TRY(serve_until(b, NULL));
  RGI_TRY(rg_ibarrier(b->members.group, &b->async.end));
  RGI_TRY(serve_until(b, &b->async.end));
  RGI_TRY(rgi_join_serve(&b->async.join));
  RGI_TRY(end_asides(b));
  RGI_TRY(rgi_wire_flush(&b->wire));
  rgi_internode_close(&b->async.nodes);
  rgi_board_close(&b->async.board);
  return RG_SUCCESS;
}
