/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A round. From the same reports each process works out the same rows and the same next groups. The
 * members of a group are in the order of ranks, except that the leader comes first. */
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/board/planner.h"
#include "walkers/state/round.h"
#include "walkers/team/meeting_list.h"

int rgi_round_open(rgi_round *round, int size) {
  round->size = size;
  if (round->reports)
    return RG_SUCCESS;
  round->reports = rgi_spare_alloc_zeroed((size_t)size, sizeof *round->reports);
  round->leader_of = rgi_spare_alloc_zeroed(3 * (size_t)size, sizeof *round->leader_of);
  if (!round->reports || !round->leader_of) {
    rgi_round_close(round);
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", size);
  }
  round->starts = round->leader_of + size;
  round->ranks = round->starts + size;
  return RG_SUCCESS;
}

void rgi_round_forget(rgi_round *round) {
  if (round->has_brought)
    rgi_spare_free(round->brought.memory);
  round->has_brought = 0;
  rgi_meeting_list_free(rgi_round_aside(round));
}

void rgi_round_close(rgi_round *round) {
  rgi_round_forget(round);
  rgi_spare_free(round->reports);
  rgi_spare_free(round->leader_of);
  *round = (rgi_round){0};
}

/* --- the reports ---------------------------------------------------------------------------- */

static int by_lowest(const void *a, const void *b) {
  const rgi_round_report *report = *(const rgi_round_report *const *)a,
                         *y = *(const rgi_round_report *const *)b;
  return (report->lowest > y->lowest) - (report->lowest < y->lowest);
}

int rgi_round_rows(const rgi_round *round, rgi_planner *planner) {
  const rgi_round_report **order = rgi_spare_alloc((size_t)round->size * sizeof *order);
  int count = 0;
  if (!order)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", round->size);
  for (int k = 0; k < round->size; k++)
    if (round->reports[k].leader == k)
      order[count++] = &round->reports[k];
  qsort(order, (size_t)count, sizeof *order, by_lowest);
  for (int i = 0; i < count; i++)
    planner->rows[i] = order[i]->load;
  planner->row_count = count;
  rgi_spare_free(order);
  return RG_SUCCESS;
}

double rgi_round_last(const rgi_round *round) {
  double last = round->reports[0].arrived;
  for (int k = 1; k < round->size; k++)
    last = round->reports[k].arrived > last ? round->reports[k].arrived : last;
  return last;
}

int rgi_round_works(const rgi_round *round, int leader) {
  const rgi_round_report *report = &round->reports[leader];
  return report->leader == leader && (report->load.state & RG_LOAD_ACTIVE);
}

int rgi_round_born(const rgi_round *round) {
  int born = 0;
  for (int k = 0; k < round->size; k++)
    born |= round->reports[k].born;
  return born != 0;
}

int rgi_round_due(const rgi_round *round) {
  int due = 0;
  for (int k = 0; k < round->size; k++)
    due |= round->reports[k].due;
  return due != 0;
}

/* --- the next groups -------------------------------------------------------------------------- */

int rgi_round_list(rgi_round *round, int leader) {
  int n = 1;
  round->ranks[0] = leader;
  for (int k = 0; k < round->size; k++)
    if (round->leader_of[k] == leader && k != leader)
      round->ranks[n++] = k;
  return n;
}

/* The ranks of a group of this round, as rgi_round_list gives those of one of the next. */
static int list_present(rgi_round *round, int leader) {
  int n = 1;
  round->ranks[0] = leader;
  for (int k = 0; k < round->size; k++)
    if (round->reports[k].leader == leader && k != leader)
      round->ranks[n++] = k;
  return n;
}

/* Moves the processes that the plan takes from one row: from the front of an idle group, from the
 * end of one at work. */
static void move_row(rgi_round *round, const rgi_planner *planner, int row) {
  int64_t given = 0;
  for (int i = 0; i < planner->plan.count; i++)
    given += planner->plan.move[i].from == row ? planner->plan.move[i].ranks : 0;
  if (given == 0)
    return;
  int n = list_present(round, (int)planner->rows[row].id);
  int idle = !(planner->rows[row].state & RG_LOAD_ACTIVE), at = idle ? 0 : n - (int)given;
  for (int i = 0; i < planner->plan.count; i++) {
    const rg_move *move = &planner->plan.move[i];
    if (move->from != row)
      continue;
    int to = move->to == RG_MOVE_NO_ROW ? round->ranks[at] : (int)planner->rows[move->to].id;
    if (move->to == RG_MOVE_NO_ROW)
      round->starts[round->ranks[at]] = (int)move->walker;
    for (int64_t k = 0; k < move->ranks; k++)
      round->leader_of[round->ranks[at++]] = to;
  }
  for (int k = at; idle && k < n; k++)
    round->leader_of[round->ranks[k]] = round->ranks[at];
}

void rgi_round_regroup(rgi_round *round, const rgi_planner *planner) {
  for (int k = 0; k < round->size; k++) {
    round->leader_of[k] = round->reports[k].leader;
    round->starts[k] = -1;
  }
  for (int row = 0; row < planner->row_count; row++)
    move_row(round, planner, row);
}
