/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group without a walker. Its leader looks for work: it asks the policy
 * with the table of the load board, takes walkers that wait, sends a request to join, or asks
 * another node. What is to be done is a command of two numbers that the leader broadcasts: JOIN
 * another group, START a walker, SPLIT into parts of which each has something else to do, GATHER
 * with other idle groups, or END.
 *
 * The other members post that broadcast without waiting for it and serve messages until it arrives.
 * When nothing has changed since the last look (b->async.search.seen is the load board's version
 * then), the leader does not ask the policy again; it sleeps until a change rings the node's bell.
 */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/async/idle.h"
#include "walkers/async/meeting_step.h"
#include "walkers/board/node_loads.h"
#include "walkers/state/balancer_state.h"

/* --- looking for work: the leader ----------------------------------------------------- */

static int request_join(rg_balancer balancer) {
  rgi_search_part *part = &balancer->async.search.part;
  int64_t *words = rgi_spare_alloc((size_t)(balancer->team.n + 1) * sizeof *words);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a request of %d processes", balancer->team.n);
  words[0] = part->stamp;
  for (int i = 0; i < balancer->team.n; i++)
    words[i + 1] = balancer->team.ranks[i];
  int error = rgi_wire_send(&balancer->wire, (int)part->target, RGI_WIRE_REQUEST,
                            balancer->team.n + 1, words);
  rgi_spare_free(words);
  balancer->async.search.asked = (int)part->target;
  part->target = -1;
  rgi_team_mark(&balancer->team, RG_SPAN_WAIT);
  return error;
}

/* Takes the answer to a request, if it has come. */
static int take_answer(rg_balancer balancer, int64_t command[2]) {
  rgi_search *idle = &balancer->async.search;
  rgi_wire_received received;
  RGI_TRY(rgi_wire_take(&balancer->wire, RGI_WIRE_ANSWER, &received));
  if (!received.words)
    return RG_SUCCESS;
  idle->asked = -1;
  idle->seen = -1;
  if (received.words[0]) {
    idle->n = (int)received.count - 1;
    idle->ranks = rgi_spare_alloc((size_t)idle->n * sizeof *idle->ranks);
    for (int i = 0; idle->ranks && i < idle->n; i++)
      idle->ranks[i] = (int)received.words[i + 1];
    command[0] =
        received.words[0] == RGI_JOIN_IDLE ? RGI_IDLE_COMMAND_GATHER : RGI_IDLE_COMMAND_JOIN;
  } else {
    balancer->counts.refused++;
    rgi_node_loads_refuse(&balancer->async.nodes.loads, received.from);
    rgi_team_mark(&balancer->team, RG_SPAN_IDLE);
  }
  rgi_spare_free(received.words);
  return RG_SUCCESS;
}

/* Other idle groups join this one. */
static int gather_groups(rg_balancer balancer, int64_t command[2]) {
  rgi_search *idle = &balancer->async.search;
  idle->n = balancer->team.n + rgi_join_processes(&balancer->async.join);
  idle->ranks = rgi_spare_alloc((size_t)idle->n * sizeof *idle->ranks);
  if (!idle->ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", idle->n);
  command[0] = RGI_IDLE_COMMAND_GATHER;
  return rgi_join_accept(&balancer->async.join, RGI_JOIN_IDLE, idle->n, idle->ranks);
}

/* Finds what the group is to do now; command[0] 0: nothing. */
static int look_for_work(rg_balancer balancer, int64_t command[2]) {
  rgi_search *idle = &balancer->async.search;
  command[0] = command[1] = 0;
  RGI_TRY(rgi_join_serve(&balancer->async.join));
  RGI_TRY(rgi_meeting_step_serve(balancer));
  if (idle->asked >= 0)
    return take_answer(balancer, command);
  if (balancer->async.join.count > 0)
    return gather_groups(balancer, command);
  if (idle->part.target < 0 && !idle->part.starts && rgi_idle_plan_due(balancer)) {
    RGI_TRY(rgi_board_lock(&balancer->async.board));
    int error = rgi_idle_plan_make(balancer, command);
    rgi_board_unlock(&balancer->async.board);
    RGI_TRY(error);
  }
  if (command[0])
    return RG_SUCCESS;
  if (idle->part.starts)
    command[0] = RGI_IDLE_COMMAND_START;
  else if (idle->part.target >= 0)
    return request_join(balancer);
  else
    return rgi_internode_query(&balancer->async.nodes, balancer->team.n);
  return RG_SUCCESS;
}

/* --- waiting -------------------------------------------------------------------------------- */

/* One attempt. *done: there was something to do, and it has been done. */
static int try_idle(rg_balancer balancer, int *done) {
  rgi_search *idle = &balancer->async.search;
  *done = 0;
  RGI_TRY(rgi_balancer_stop_look(balancer));
  if (rgi_team_leads(&balancer->team)) {
    RGI_TRY(look_for_work(balancer, idle->command));
    if (!idle->command[0])
      return RG_SUCCESS;
    if (balancer->team.n > 1) {
      RGI_TRY(rg_ibcast(balancer->team.own, idle->command, 2, MPI_INT64_T, 0, &idle->request));
      RGI_TRY(rg_wait(&idle->request, NULL));
    }
  } else {
    RGI_TRY(rgi_join_serve(&balancer->async.join));
    RGI_TRY(rgi_meeting_step_serve(balancer));
    if (!idle->pending)
      RGI_TRY(rg_ibcast(balancer->team.own, idle->command, 2, MPI_INT64_T, 0, &idle->request));
    idle->pending = 1;
    int came;
    RGI_TRY(rg_test(&idle->request, &came, NULL));
    if (!came)
      return RG_SUCCESS;
    idle->pending = 0;
  }
  *done = 1;
  int64_t command[2] = {idle->command[0], idle->command[1]};
  return rgi_idle_command_obey(balancer, command);
}

/* A unit of another group may take any time: RG_TIMEOUT does not end the wait. */
static void start_waiting(const struct rg_balancer_s *balancer, rgi_wait *waiting) {
  rgi_membership_start_wait(&balancer->members, "waiting for work", waiting);
}

int rgi_idle_step(rg_balancer balancer, int wait, int *what) {
  rgi_wait waiting;
  int done, error;
  double called = 0;
  start_waiting(balancer, &waiting);
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    error = rgi_requests_progress_all();
    if (!error)
      error = try_idle(balancer, &done);
    if (error || done || !wait)
      break;
    error = rgi_wait_bell(&waiting, rgi_node_bell(), bell, !rgi_progress_busy());
    if (error == RG_ERR_TIMEOUT) {
      start_waiting(balancer, &waiting);
      error = RG_SUCCESS;
    }
    if (error)
      break;
    if (balancer->options.waiting && rgi_clock_now() - called > 0.05) {
      called = rgi_clock_now();
      balancer->options.waiting(balancer->options.context);
    }
  }
  *what = done ? RG_BALANCE_MOVED : RG_BALANCE_IDLE;
  return error;
}
