/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing. A group without work asks the policy, and then asks one group at work
 * whether it may join. A leader at work looks for requests after each unit and accepts or refuses
 * them all; a leader without work refuses at once. So a group without work waits only for groups at
 * work. A group at work waits only for groups whose requests it has accepted, and these wait for
 * that answer. So there is no circle of waiting. docs/develop/decisions.md has the argument. */
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

int rgi_async_step(rg_balancer balancer, int wait, int *what) {
  RGI_TRY(rgi_meeting_step_serve(balancer));
  if (balancer->work.working)
    RGI_TRY(rgi_active_step(balancer, what));
  else
    RGI_TRY(rgi_idle_step(balancer, wait, what));
  if (balancer->stage == RGI_BALANCER_DONE)
    *what = RG_BALANCE_DONE;
  return RG_SUCCESS;
}

/* --- begin and end ---------------------------------------------------------------------------- */

/* Writes the rows and the walkers that wait, before any process reads them. */
static int lay_out(rg_balancer balancer, int group) {
  int has = rgi_first_starts(balancer);
  balancer->work.working = has;
  balancer->work.left = has ? balancer->list.at[group].left : 0;
  balancer->work.may = RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE;
  balancer->work.unit = RG_LOAD_UNKNOWN;
  balancer->async.board.stamp = has;
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  if (rgi_team_leads(&balancer->team)) {
    rgi_own_load_write(&balancer->async.board, &balancer->work, 0);
    balancer->async.board.shared->open += has;
  }
  int error =
      rgi_internode_deal(&balancer->async.nodes, &balancer->list, rgi_first_starting(balancer));
  rgi_board_unlock(&balancer->async.board);
  balancer->work.working = 0;
  return error;
}

/* A node may have no walker at all: then it returns its credit now. */
static int first_quiet(rg_balancer balancer) {
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  int error = rgi_internode_check_end(&balancer->async.nodes);
  rgi_board_unlock(&balancer->async.board);
  return error;
}

int rgi_async_begin(rg_balancer balancer) {
  int group = rgi_team_first_number(&balancer->team), next;
  RGI_TRY(rgi_board_open(&balancer->async.board));
  RGI_TRY(rgi_internode_open(&balancer->async.nodes));
  RGI_TRY(rgi_team_first(&balancer->team, rgi_first_head(balancer, group)));
  RGI_TRY(lay_out(balancer, group));
  RGI_TRY(rg_barrier(balancer->members.group));
  RGI_TRY(first_quiet(balancer));
  if (!rgi_first_starts(balancer))
    return rgi_active_become_idle(balancer, 0, NULL);
  rgi_queue_entry mine = balancer->list.at[group];
  if (rgi_team_leads(&balancer->team))
    balancer->list.at[group].memory =
        NULL; /* it is the walker's; the others' copies stay in the list */
  RGI_TRY(rgi_work_start(&balancer->work, &mine, &next));
  return rgi_active_continue(balancer, next);
}

/* Serves until the request is complete; without one, until all own messages are answered. Other
 * processes may still ask something. */
static int serve_until(rg_balancer balancer, rg_request *request) {
  rgi_wait waiting;
  rgi_membership_start_wait(&balancer->members, "the end of all walkers", &waiting);
  for (;;) {
    int done = 0;
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_requests_progress_all());
    RGI_TRY(rgi_join_serve(&balancer->async.join));
    if (request)
      RGI_TRY(rg_test(request, &done, NULL));
    if (request ? done
                : !rgi_internode_asked(&balancer->async.nodes) &&
                      !rgi_buddy_waits(&balancer->survival.buddy))
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&waiting, rgi_node_bell(), bell, !rgi_progress_busy()));
  }
}

/* On a node without a leader no process has seen that the walkers there cannot go on. Their copies
 * would find no receiver now. */
static int end_asides(rg_balancer balancer) {
  if (!balancer->async.board.shared || !balancer->async.board.shared->aside)
    return RG_SUCCESS;
  rgi_buddy_close(&balancer->survival.buddy);
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  int error = rgi_meeting_step_end(balancer);
  rgi_board_unlock(&balancer->async.board);
  return error;
}

/* The barrier is kept in balancer->async.end, so that restart.c can end it before it frees the
 * group: a death may be seen while it is open. */
int rgi_async_end(rg_balancer balancer) {
  RGI_TRY(serve_until(balancer, NULL));
  RGI_TRY(rg_ibarrier(balancer->members.group, &balancer->async.end));
  RGI_TRY(serve_until(balancer, &balancer->async.end));
  RGI_TRY(rgi_join_serve(&balancer->async.join));
  RGI_TRY(end_asides(balancer));
  RGI_TRY(rgi_wire_flush(&balancer->wire));
  rgi_internode_close(&balancer->async.nodes);
  rgi_board_close(&balancer->async.board);
  return RG_SUCCESS;
}
