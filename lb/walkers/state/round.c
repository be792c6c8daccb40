/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A round. From the same reports each process works out the same rows and the same next groups. The
 * members of a group are in the order of ranks, except that the leader comes first. */
#include <stdlib.h>

#include "base/error.h"
#include "walkers/board/planner.h"
#include "walkers/state/round.h"
#include "walkers/team/meeting_list.h"

int rgi_round_open(rgi_round *r, int size) {
  r->size = size;
  if (r->reports)
    return RG_SUCCESS;
  r->reports = calloc((size_t)size, sizeof *r->reports);
  r->leader_of = calloc(3 * (size_t)size, sizeof *r->leader_of);
  if (!r->reports || !r->leader_of) {
    rgi_round_close(r);
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", size);
  }
  r->starts = r->leader_of + size;
  r->ranks = r->starts + size;
  return RG_SUCCESS;
}

void rgi_round_forget(rgi_round *r) {
  if (r->has_brought)
    free(r->brought.memory);
  r->has_brought = 0;
  rgi_meeting_list_free(rgi_round_aside(r));
}

void rgi_round_close(rgi_round *r) {
  rgi_round_forget(r);
  free(r->reports);
  free(r->leader_of);
  *r = (rgi_round){0};
}

/* --- the reports ---------------------------------------------------------------------------- */

static int by_lowest(const void *a, const void *b) {
  const rgi_round_report *x = *(const rgi_round_report *const *)a,
                         *y = *(const rgi_round_report *const *)b;
  return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

int rgi_round_rows(const rgi_round *r, rgi_planner *p) {
  const rgi_round_report **order = malloc((size_t)r->size * sizeof *order);
  int count = 0;
  if (!order)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", r->size);
  for (int k = 0; k < r->size; k++)
    if (r->reports[k].leader == k)
      order[count++] = &r->reports[k];
  qsort(order, (size_t)count, sizeof *order, by_lowest);
  for (int i = 0; i < count; i++)
    p->rows[i] = order[i]->load;
  p->row_count = count;
  free(order);
  return RG_SUCCESS;
}

double rgi_round_last(const rgi_round *r) {
  double last = r->reports[0].arrived;
  for (int k = 1; k < r->size; k++)
    last = r->reports[k].arrived > last ? r->reports[k].arrived : last;
  return last;
}

int rgi_round_works(const rgi_round *r, int leader) {
  const rgi_round_report *t = &r->reports[leader];
  return t->leader == leader && (t->load.state & RG_LOAD_ACTIVE);
}

int rgi_round_born(const rgi_round *r) {
  int born = 0;
  for (int k = 0; k < r->size; k++)
    born |= r->reports[k].born;
  return born != 0;
}

int rgi_round_due(const rgi_round *r) {
  int due = 0;
  for (int k = 0; k < r->size; k++)
    due |= r->reports[k].due;
  return due != 0;
}

/* --- the next groups -------------------------------------------------------------------------- */

int rgi_round_list(rgi_round *r, int leader) {
  int n = 1;
  r->ranks[0] = leader;
  for (int k = 0; k < r->size; k++)
    if (r->leader_of[k] == leader && k != leader)
      r->ranks[n++] = k;
  return n;
}

/* The same for a group of this round. */
static int list_present(rgi_round *r, int leader) {
  int n = 1;
  r->ranks[0] = leader;
  for (int k = 0; k < r->size; k++)
    if (r->reports[k].leader == leader && k != leader)
      r->ranks[n++] = k;
  return n;
}

/* Moves the processes that the plan takes from one row: from the front of an idle group, from the
 * end of one at work. */
static void move_row(rgi_round *r, const rgi_planner *p, int row) {
  int64_t given = 0;
  for (int i = 0; i < p->plan.count; i++)
    given += p->plan.move[i].from == row ? p->plan.move[i].ranks : 0;
  if (given == 0)
    return;
  int n = list_present(r, (int)p->rows[row].id);
  int idle = !(p->rows[row].state & RG_LOAD_ACTIVE), at = idle ? 0 : n - (int)given;
  for (int i = 0; i < p->plan.count; i++) {
    const rg_move *m = &p->plan.move[i];
    if (m->from != row)
      continue;
    int to = m->to == RG_MOVE_NO_ROW ? r->ranks[at] : (int)p->rows[m->to].id;
    if (m->to == RG_MOVE_NO_ROW)
      r->starts[r->ranks[at]] = (int)m->walker;
    for (int64_t k = 0; k < m->ranks; k++)
      r->leader_of[r->ranks[at++]] = to;
  }
  for (int k = at; idle && k < n; k++)
    r->leader_of[r->ranks[k]] = r->ranks[at];
}

void rgi_round_regroup(rgi_round *r, const rgi_planner *p) {
  for (int k = 0; k < r->size; k++) {
    r->leader_of[k] = r->reports[k].leader;
    r->starts[k] = -1;
  }
  for (int row = 0; row < p->row_count; row++)
    move_row(r, p, row);
}
