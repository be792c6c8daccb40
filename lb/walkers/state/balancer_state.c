/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How the objects of a balancer are connected, and how they give up what is under way. */
#include "walkers/state/balancer_state.h"

#include <regroup/recovery.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "recovery/checkpoint_due.h"

void rgi_balancer_state_connect(rg_balancer balancer) {
  balancer->wire.members = balancer->team.members = balancer->async.board.members =
      &balancer->members;
  balancer->survival.store.members = &balancer->members;
  balancer->survival.index.store = &balancer->survival.store;
  balancer->survival.buddy =
      (rgi_buddy){.wire = &balancer->wire, .index = &balancer->survival.index, .rank = -1};
  balancer->work.team = &balancer->team;
  balancer->work.board = &balancer->async.board;
  balancer->work.buddy = &balancer->survival.buddy;
  balancer->work.outcomes = &balancer->outcomes;
  balancer->work.paces = &balancer->paces;
  balancer->work.counts = &balancer->counts;
  balancer->async.nodes.wire = &balancer->wire;
  balancer->async.nodes.board = &balancer->async.board;
  balancer->async.nodes.store = &balancer->survival.store;
  balancer->async.join.work = &balancer->work;
  balancer->async.join.nodes = &balancer->async.nodes;
}

static void end_request(rg_request *request) {
  if (*request)
    rg_wait(request, NULL);
}

static void forget_kept(rg_balancer balancer) {
  for (rgi_balancer_kept *kept = balancer->async.kept, *next; kept; kept = next) {
    next = kept->next;
    for (int64_t i = 0; i < kept->count; i++)
      rgi_spare_free(kept->entries[i].memory);
    rgi_spare_free(kept->entries);
    rgi_spare_free(kept);
  }
  balancer->async.kept = NULL;
}

/* The process works on no walker any more, and in no group. */
static void leave_work(rg_balancer balancer) {
  rgi_work_leave(&balancer->work);
  rgi_team_free(&balancer->team);
  rgi_queue_free(&balancer->work.born);
  rgi_buddy_close(&balancer->survival.buddy);
  forget_kept(balancer);
}

/* The groups of walkers are revoked with the balancer's (team.c). */
int rgi_balancer_state_give_up(rg_balancer balancer) {
  RGI_TRY(rg_group_revoke(balancer->members.group));
  end_request(&balancer->round.request);
  end_request(&balancer->async.end);
  rgi_search_forget(&balancer->async.search);
  rgi_join_forget(&balancer->async.join);
  rgi_round_forget(&balancer->round);
  rgi_wire_flush(&balancer->wire);
  leave_work(balancer);
  rgi_internode_close(&balancer->async.nodes);
  rgi_board_forget(&balancer->async.board);
  balancer->round.units = 0;
  return RG_SUCCESS;
}

void rgi_balancer_state_free_run(rg_balancer balancer) {
  leave_work(balancer);
  rgi_queue_free(&balancer->list);
  rgi_planner_close(&balancer->planner);
  rgi_join_close(&balancer->async.join);
  rgi_meeting_free(&balancer->work.meeting);
  rgi_round_close(&balancer->round);
}

int rgi_balancer_stop_due(rg_balancer balancer) {
  return balancer->options.stop_when_due && rgi_checkpoint_due_here();
}

void rgi_balancer_stop_note(rg_balancer balancer) {
  rgi_checkpoint_due_note();
  balancer->work.stopping = 1;
}

/* After a death the load board is a new one: what the process knows is told again. */
int rgi_balancer_stop_look(rg_balancer balancer) {
  int told = atomic_load(&balancer->async.board.shared->stopping);
  if (told)
    rgi_balancer_stop_note(balancer);
  else if (rgi_balancer_stop_due(balancer)) {
    balancer->work.stopping = 1;
    return rgi_internode_stop(&balancer->async.nodes);
  }
  return RG_SUCCESS;
}
