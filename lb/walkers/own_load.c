/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A leader writes the row of its group on the load board after each unit and each change of the
 * group. Waiting leaders are told only if something has changed that a policy may answer
 * differently: the state, the size, or a unit's first time on a new size. */
#include <regroup/policy.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/load_board.h"
#include "walkers/own_load.h"

int rgi_own_load_joinable(const struct rg_balancer_s *b) {
  const rgi_balancer_work *work = &b->work;
  return work->working && (work->may & RG_LOAD_JOINABLE) && (work->left < 0 || work->left > 1);
}

int rgi_own_load_leavable(const struct rg_balancer_s *b) {
  return b->work.working && (b->work.may & RG_LOAD_LEAVABLE);
}

void rgi_own_load_write(rg_balancer b, int coming) {
  const rgi_balancer_work *work = &b->work;
  rgi_load_board_row *row = rgi_load_board_row_of(b, b->rank);
  int before = row->leads ? row->load.state : 0;
  int64_t ranks = row->load.ranks;
  row->leads = 1;
  row->stamp = b->stamp;
  row->lowest = b->team.lowest;
  row->seen = -1;
  row->load = (rg_load){.id = b->rank, .ranks = b->team.n, .coming = coming > 0 ? coming : 0};
  if (work->working) {
    row->load.state = RG_LOAD_ACTIVE | (rgi_own_load_joinable(b) ? RG_LOAD_JOINABLE : 0) |
                      (rgi_own_load_leavable(b) ? RG_LOAD_LEAVABLE : 0);
    row->load.least = work->entry.least;
    row->load.most = work->entry.most;
    row->load.walkers = 1;
    row->load.left = work->left;
    row->load.done = (double)work->walker.done;
    row->load.unit = work->unit;
    row->load.pace = work->pace;
  }
  if (row->load.state != before || row->load.ranks != ranks || work->new_size)
    rgi_load_board_changed(b);
}

int rgi_own_load_coming(rg_balancer b) {
  return (int)rgi_load_board_row_of(b, b->rank)->load.coming;
}

int rgi_own_load_publish(rg_balancer b) {
  if (!rgi_balancer_leads(b))
    return RG_SUCCESS;
  RGI_TRY(rgi_load_board_lock(b));
  rgi_own_load_write(b, rgi_own_load_coming(b));
  rgi_load_board_unlock(b);
  return RG_SUCCESS;
}

int rgi_own_load_withdraw(rg_balancer b) {
  rgi_load_board_row *row = rgi_load_board_row_of(b, b->rank);
  if (!row->leads)
    return RG_SUCCESS;
  RGI_TRY(rgi_load_board_lock(b));
  row->leads = 0;
  rgi_load_board_unlock(b);
  return RG_SUCCESS;
}
