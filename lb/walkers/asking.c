/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: what a group tells on the board, and requests to join it. */
#include "walkers/async_parts.h"

#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "walkers/vault.h"

/* --- what this group tells ------------------------------------------------------------ */

static int joinable(const struct rg_balancer_s *b) {
  const rgi_work *work = &b->work;
  return work->working && (work->may & RG_LOAD_JOINABLE) && (work->left < 0 || work->left > 1);
}

int rgi_async_leavable(const struct rg_balancer_s *b) {
  return b->work.working && (b->work.may & RG_LOAD_LEAVABLE);
}

/* With the lock held: the leader's row, as things are now. */
void rgi_async_write_row(rg_balancer b, int coming) {
  const rgi_work *work = &b->work;
  rgi_row *row = rgi_board_row(b, b->rank);
  int before = row->leads ? row->load.state : 0;
  int64_t ranks = row->load.ranks;
  row->leads = 1;
  row->stamp = b->stamp;
  row->lowest = b->crew.lowest;
  row->seen = -1;
  row->load = (rg_load){.id = b->rank, .ranks = b->crew.n, .coming = coming > 0 ? coming : 0};
  if (work->working) {
    row->load.state = RG_LOAD_ACTIVE | (joinable(b) ? RG_LOAD_JOINABLE : 0) |
                      (rgi_async_leavable(b) ? RG_LOAD_LEAVABLE : 0);
    row->load.least = work->entry.least;
    row->load.most = work->entry.most;
    row->load.walkers = 1;
    row->load.left = work->left;
    row->load.done = (double)work->walker.done;
    row->load.unit = work->unit;
    row->load.pace = work->pace;
  }
  if (row->load.state != before || row->load.ranks != ranks || work->new_size)
    rgi_board_changed(b);
}

int rgi_async_coming(rg_balancer b) {
  return (int)rgi_board_row(b, b->rank)->load.coming;
}

int rgi_async_tell(rg_balancer b) {
  if (!rgi_leads(b))
    return RG_SUCCESS;
  RGI_TRY(rgi_board_lock(b));
  rgi_async_write_row(b, rgi_async_coming(b));
  rgi_board_unlock(b);
  return RG_SUCCESS;
}

/* This process leads no group any more. */
int rgi_async_tell_nothing(rg_balancer b) {
  rgi_row *row = rgi_board_row(b, b->rank);
  if (!row->leads)
    return RG_SUCCESS;
  RGI_TRY(rgi_board_lock(b));
  row->leads = 0;
  rgi_board_unlock(b);
  return RG_SUCCESS;
}

int rgi_async_publish(rg_balancer b) {
  rgi_entries *born = &b->work.born;
  int error = RG_SUCCESS;
  RGI_TRY(rgi_board_lock(b));
  for (int i = 0; i < born->count && !error; i++) {
    error = rgi_board_put(b, &born->at[i]);
    b->board->open += !error;
  }
  rgi_board_changed(b);
  rgi_board_unlock(b);
  rgi_entries_free(born);
  return error;
}

/* --- requests ---------------------------------------------------------------------------- */

static int refuse(rg_balancer b, int leader) {
  int64_t no = 0;
  return rgi_wire_send(b, leader, RGI_TAG_ANSWER, 1, &no);
}

int rgi_async_refuse_all(rg_balancer b) {
  int error = RG_SUCCESS;
  for (int i = 0; i < b->joiner_count; i++) {
    int one = refuse(b, b->joiners[i].leader);
    error = error ? error : one;
    free(b->joiners[i].ranks);
  }
  b->joiner_count = 0;
  return error;
}

static int add_joiner(rg_balancer b, int leader, int n, const int64_t ranks[]) {
  if (b->joiner_count == b->joiner_room) {
    int room = b->joiner_room ? 2 * b->joiner_room : 8;
    rgi_joiner *more = realloc(b->joiners, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d requests", room);
    b->joiners = more;
    b->joiner_room = room;
  }
  rgi_joiner j = {leader, n, malloc((size_t)n * sizeof *j.ranks)};
  if (!j.ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d processes that join", n);
  for (int i = 0; i < n; i++)
    j.ranks[i] = (int)ranks[i];
  b->joiners[b->joiner_count++] = j;
  return RG_SUCCESS;
}

/* Requests that have come: a leader at work keeps those that mean its walker. */
int rgi_async_serve(rg_balancer b) {
  int from, count;
  int64_t *words;
  RGI_TRY(rgi_keeper_serve(b));
  while (b->board) {
    RGI_TRY(rgi_wire_take(b, RGI_TAG_REQUEST, &from, &count, &words));
    if (!words)
      break;
    int mine = rgi_leads(b) && b->work.working && words[0] == b->stamp;
    int error = mine ? add_joiner(b, from, count - 1, words + 1) : refuse(b, from);
    free(words);
    RGI_TRY(error);
  }
  RGI_TRY(rgi_wire_reap(b));
  return b->board ? rgi_nodes_serve(b) : RG_SUCCESS;
}

/* Those that may join: the first of the joiners; the others are refused. */
int rgi_async_choose_joiners(rg_balancer b, int *processes) {
  int kept = 0, error = RG_SUCCESS, most = (int)b->work.entry.most;
  *processes = 0;
  for (int i = 0; i < b->joiner_count; i++) {
    rgi_joiner j = b->joiners[i];
    if (joinable(b) && (!most || b->crew.n + *processes + j.n <= most)) {
      *processes += j.n;
      b->joiners[kept++] = j;
      continue;
    }
    int one = refuse(b, j.leader);
    error = error ? error : one;
    rgi_board_row(b, b->rank)->load.coming -= j.n;
    free(j.ranks);
  }
  b->joiner_count = kept;
  return error;
}
