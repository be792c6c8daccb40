/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests to join a group at work. A request has the stamp of the walker that is meant and the
 * ranks that ask; the answer is 0, or 1 and the ranks of the new group. A leader keeps the requests
 * for its present walker until its next unit ends, then takes as many as the walker can use and
 * refuses the others. Every other process refuses at once, so each request is answered. */
#include <stdlib.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/internode.h"
#include "walkers/join.h"
#include "walkers/load_board.h"
#include "walkers/own_load.h"
#include "walkers/wire.h"

static int refuse_request(rg_balancer b, int leader) {
  int64_t no = 0;
  return rgi_wire_send(b, leader, RGI_WIRE_ANSWER, 1, &no);
}

int rgi_join_refuse_all(rg_balancer b) {
  int error = RG_SUCCESS;
  for (int i = 0; i < b->joiner_count; i++) {
    int one = refuse_request(b, b->joiners[i].leader);
    error = error ? error : one;
    free(b->joiners[i].ranks);
  }
  b->joiner_count = 0;
  return error;
}

static int add_joiner(rg_balancer b, int leader, int n, const int64_t ranks[]) {
  if (b->joiner_count == b->joiner_room) {
    int room = b->joiner_room ? 2 * b->joiner_room : 8;
    rgi_balancer_joiner *more = realloc(b->joiners, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d requests", room);
    b->joiners = more;
    b->joiner_room = room;
  }
  rgi_balancer_joiner j = {leader, n, malloc((size_t)n * sizeof *j.ranks)};
  if (!j.ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d processes that join", n);
  for (int i = 0; i < n; i++)
    j.ranks[i] = (int)ranks[i];
  b->joiners[b->joiner_count++] = j;
  return RG_SUCCESS;
}

int rgi_join_serve(rg_balancer b) {
  int from, count;
  int64_t *words;
  RGI_TRY(rgi_buddy_serve(b));
  while (b->board) {
    RGI_TRY(rgi_wire_take(b, RGI_WIRE_REQUEST, &from, &count, &words));
    if (!words)
      break;
    int mine = rgi_balancer_leads(b) && b->work.working && words[0] == b->stamp;
    int error = mine ? add_joiner(b, from, count - 1, words + 1) : refuse_request(b, from);
    free(words);
    RGI_TRY(error);
  }
  RGI_TRY(rgi_wire_reap(b));
  return b->board ? rgi_internode_serve(b) : RG_SUCCESS;
}

int rgi_join_choose(rg_balancer b, int *processes) {
  int kept = 0, error = RG_SUCCESS, most = (int)b->work.entry.most;
  *processes = 0;
  for (int i = 0; i < b->joiner_count; i++) {
    rgi_balancer_joiner j = b->joiners[i];
    if (rgi_own_load_joinable(b) && (!most || b->team.n + *processes + j.n <= most)) {
      *processes += j.n;
      b->joiners[kept++] = j;
      continue;
    }
    int one = refuse_request(b, j.leader);
    error = error ? error : one;
    rgi_load_board_row_of(b, b->rank)->load.coming -= j.n;
    free(j.ranks);
  }
  b->joiner_count = kept;
  return error;
}
