/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A leader writes the row of its group on the load board after each unit and each change of the
 * group. Waiting leaders are told only if a policy may answer differently then. */
#include <regroup/policy.h>

#include "base/error.h"
#include "walkers/board/board.h"
#include "walkers/team/team.h"
#include "walkers/work/own_load.h"
#include "walkers/work/work.h"

static rgi_board_row *own_row(const rgi_board *board) {
  return rgi_board_row_of(board, board->members->rank);
}

int rgi_own_load_write(rgi_board *board, const rgi_work *work, int coming) {
  rgi_board_row *row = own_row(board);
  int leads = row->leads, state = row->load.state;
  int64_t ranks = row->load.ranks;
  row->leads = 1;
  row->stamp = board->stamp;
  row->walker = work->walker.id;
  row->lowest = work->team->lowest;
  row->seen = -1;
  row->load = rgi_work_load(work, (rgi_work_joinable(work) ? RG_LOAD_JOINABLE : 0) |
                                      (rgi_work_leavable(work) ? RG_LOAD_LEAVABLE : 0));
  row->load.coming = coming > 0 ? coming : 0;
  return !leads || row->load.state != state || row->load.ranks != ranks || work->new_size;
}

int rgi_own_load_coming(const rgi_board *board) {
  return (int)own_row(board)->load.coming;
}

int rgi_own_load_publish(rgi_board *board, const rgi_work *work) {
  if (!rgi_team_leads(work->team))
    return RG_SUCCESS;
  RGI_TRY(rgi_board_lock(board));
  if (rgi_own_load_write(board, work, rgi_own_load_coming(board)))
    rgi_board_changed(board);
  rgi_board_unlock(board);
  return RG_SUCCESS;
}

int rgi_own_load_withdraw(rgi_board *board) {
  rgi_board_row *row = own_row(board);
  if (!row->leads)
    return RG_SUCCESS;
  RGI_TRY(rgi_board_lock(board));
  row->leads = 0;
  rgi_board_unlock(board);
  return RG_SUCCESS;
}
