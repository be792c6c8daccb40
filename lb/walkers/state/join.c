/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests to join a group at work. A request has the stamp of the walker that is meant and the
 * ranks that ask; the answer is 0, or RGI_JOIN_... and the ranks of the new group. A leader keeps
 * the requests for its present walker until its next unit ends, then takes as many as the walker
 * can use and refuses the others. Every other process refuses at once, so each request is answered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/spare.h"
#include "walkers/board/board.h"
#include "walkers/board/internode.h"
#include "walkers/state/join.h"
#include "walkers/store/buddy.h"
#include "walkers/team/team.h"
#include "walkers/team/wire.h"
#include "walkers/work/work.h"

static int refuse_request(const rgi_join *join, int leader) {
  int64_t no = 0;
  return rgi_wire_send(join->nodes->wire, leader, RGI_WIRE_ANSWER, 1, &no);
}

void rgi_join_forget(rgi_join *join) {
  for (int i = 0; i < join->count; i++)
    rgi_spare_free(join->at[i].ranks);
  join->count = 0;
}

void rgi_join_close(rgi_join *join) {
  rgi_join_forget(join);
  rgi_spare_free(join->at);
  join->at = NULL;
  join->room = 0;
}

int rgi_join_refuse_all(rgi_join *join) {
  int error = RG_SUCCESS;
  for (int i = 0; i < join->count; i++) {
    int one = refuse_request(join, join->at[i].leader);
    error = error ? error : one;
  }
  rgi_join_forget(join);
  return error;
}

static int add_request(rgi_join *join, int leader, int n, const int64_t ranks[]) {
  RGI_TRY(rgi_grow(&join->at, join->count, &join->room, sizeof *join->at,
                   "no memory for %lld requests"));
  rgi_join_request request = {leader, n, rgi_spare_alloc((size_t)n * sizeof *request.ranks)};
  if (!request.ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d processes that join", n);
  for (int i = 0; i < n; i++)
    request.ranks[i] = (int)ranks[i];
  join->at[join->count++] = request;
  return RG_SUCCESS;
}

/* Keeps or refuses a request. */
static int take_request(rgi_join *join, const rgi_wire_received *received) {
  const rgi_work *work = join->work;
  if (rgi_team_leads(work->team) && (work->working || join->gathers) &&
      received->words[0] == join->nodes->board->stamp)
    return add_request(join, received->from, (int)received->count - 1, received->words + 1);
  return refuse_request(join, received->from);
}

int rgi_join_serve(rgi_join *join) {
  const rgi_board *board = join->nodes->board;
  rgi_wire *wire = join->nodes->wire;
  rgi_wire_received received;
  RGI_TRY(rgi_buddy_serve(join->work->buddy));
  while (board->shared) {
    RGI_TRY(rgi_wire_take(wire, RGI_WIRE_REQUEST, &received));
    if (!received.words)
      break;
    int error = take_request(join, &received);
    rgi_spare_free(received.words);
    RGI_TRY(error);
  }
  RGI_TRY(rgi_wire_reap(wire));
  return board->shared ? rgi_internode_serve(join->nodes) : RG_SUCCESS;
}

int rgi_join_choose(rgi_join *join, int *processes) {
  const rgi_work *work = join->work;
  const rgi_board *board = join->nodes->board;
  int kept = 0, error = RG_SUCCESS;
  int64_t most = work->entry.most;
  *processes = 0;
  for (int i = 0; i < join->count; i++) {
    rgi_join_request request = join->at[i];
    if (rgi_work_joinable(work) && (!most || work->team->n + *processes + request.n <= most)) {
      *processes += request.n;
      join->at[kept++] = request;
      continue;
    }
    int one = refuse_request(join, request.leader);
    error = error ? error : one;
    rgi_board_row_of(board, board->members->rank)->load.coming -= request.n;
    rgi_spare_free(request.ranks);
  }
  join->count = kept;
  return error;
}

int rgi_join_processes(const rgi_join *join) {
  int sum = 0;
  for (int i = 0; i < join->count; i++)
    sum += join->at[i].n;
  return sum;
}

int rgi_join_accept(rgi_join *join, int answer, int n, int ranks[]) {
  const rgi_team *team = join->work->team;
  int at = team->n;
  memcpy(ranks, team->ranks, (size_t)at * sizeof *ranks);
  for (int i = 0; i < join->count; i++) {
    memcpy(ranks + at, join->at[i].ranks, (size_t)join->at[i].n * sizeof *ranks);
    at += join->at[i].n;
  }
  int64_t *words = rgi_spare_alloc((size_t)(n + 1) * sizeof *words);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  words[0] = answer;
  for (int i = 0; i < n; i++)
    words[i + 1] = ranks[i];
  int error = RG_SUCCESS;
  for (int i = 0; i < join->count && !error; i++)
    error = rgi_wire_send(join->nodes->wire, join->at[i].leader, RGI_WIRE_ANSWER, n + 1, words);
  rgi_join_forget(join);
  rgi_spare_free(words);
  return error;
}
