/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How the objects of a balancer are connected, and how they give up what is under way. */
#include <regroup/recovery.h>
#include <stdlib.h>

#include "base/error.h"
#include "walkers/state/balancer_state.h"

void rgi_balancer_state_connect(rg_balancer b) {
  b->wire.members = b->team.members = b->async.board.members = &b->members;
  b->survival.store.members = &b->members;
  b->survival.index.store = &b->survival.store;
  b->survival.buddy = (rgi_buddy){.wire = &b->wire, .index = &b->survival.index, .rank = -1};
  b->work.team = &b->team;
  b->work.board = &b->async.board;
  b->work.buddy = &b->survival.buddy;
  b->work.outcomes = &b->outcomes;
  b->work.paces = &b->paces;
  b->work.counts = &b->counts;
  b->async.nodes.wire = &b->wire;
  b->async.nodes.board = &b->async.board;
  b->async.nodes.store = &b->survival.store;
  b->async.join.work = &b->work;
  b->async.join.nodes = &b->async.nodes;
}

static void end_request(rg_request *request) {
  if (*request)
    rg_wait(request, NULL);
}

static void forget_kept(rg_balancer b) {
  for (rgi_balancer_kept *kept = b->async.kept, *next; kept; kept = next) {
    next = kept->next;
    for (int64_t i = 0; i < kept->count; i++)
      free(kept->entries[i].memory);
    free(kept->entries);
    free(kept);
  }
  b->async.kept = NULL;
}

/* The process works on no walker any more, and in no group. */
static void leave_work(rg_balancer b) {
  rgi_work_leave(&b->work);
  rgi_team_free(&b->team);
  rgi_queue_free(&b->work.born);
  rgi_buddy_close(&b->survival.buddy);
  forget_kept(b);
}

/* The groups of walkers are revoked with the balancer's (team.c). */
int rgi_balancer_state_give_up(rg_balancer b) {
  RGI_TRY(rg_group_revoke(b->members.group));
  end_request(&b->round.request);
  end_request(&b->async.end);
  rgi_search_forget(&b->async.search);
  rgi_join_forget(&b->async.join);
  rgi_round_forget(&b->round);
  rgi_wire_flush(&b->wire);
  leave_work(b);
  rgi_internode_close(&b->async.nodes);
  rgi_board_forget(&b->async.board);
  b->round.units = 0;
  return RG_SUCCESS;
}

void rgi_balancer_state_free_run(rg_balancer b) {
  leave_work(b);
  rgi_queue_free(&b->list);
  rgi_planner_close(&b->planner);
  rgi_join_close(&b->async.join);
  rgi_meeting_free(&b->work.meeting);
  rgi_round_close(&b->round);
}
