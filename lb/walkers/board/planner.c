/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asking the policy. A policy of the application may be wrong. That must stop no walker, and no
 * other process may wait for the one that found it out. So this process notes the error, asks the
 * policy no more and from now on only starts walkers that wait; rg_balance_end returns the error.
 */
#include "walkers/board/planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "runtime/tuning.h"
#include "shm/node.h"
#include "walkers/board/board.h"
#include "walkers/board/node_loads.h"
#include "walkers/team/queue.h"

int rgi_planner_open(rgi_planner *planner, int groups) {
  if (planner->rows)
    return RG_SUCCESS;
  planner->rows = rgi_spare_alloc_zeroed((size_t)groups, sizeof *planner->rows);
  planner->stamps = rgi_spare_alloc_zeroed((size_t)groups, sizeof *planner->stamps);
  if (planner->rows && planner->stamps)
    return RG_SUCCESS;
  rgi_planner_close(planner);
  return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", groups);
}

void rgi_planner_close(rgi_planner *planner) {
  rg_plan_free(&planner->plan);
  rgi_spare_free(planner->rows);
  rgi_spare_free(planner->stamps);
  planner->rows = NULL;
  planner->stamps = NULL;
}

rg_load_table rgi_planner_table(rgi_planner *planner, const rgi_queue_entry waiting[], int count) {
  int shown = count < RGI_QUEUE_SHOWN ? count : RGI_QUEUE_SHOWN;
  rgi_queue_show(waiting, shown, planner->waiting);
  return (rg_load_table){.size = sizeof(rg_load_table),
                         .load = planner->rows,
                         .count = planner->row_count,
                         .waiting = planner->waiting,
                         .waiting_count = shown,
                         .cross = 2 * rgi_tuning_now()->between.ts}; /* to a leader and back */
}

const char *rgi_planner_name(const rgi_planner *planner) {
  return planner->policy.name ? planner->policy.name : "";
}

static void note_policy_error(rgi_planner *planner, int error) {
  planner->error = error;
  if (error >= RG_ERR_USER)
    snprintf(planner->text, sizeof planner->text, "%s", rg_error_detail());
  else
    snprintf(planner->text, sizeof planner->text, "policy %s: %s",
             planner->policy.name ? planner->policy.name : "without a name", rg_error_detail());
}

int rgi_planner_ask(rgi_planner *planner, const rg_load_table *table) {
  rg_policy none = {.size = sizeof none};
  int error =
      planner->error ? planner->error : rg_policy_plan(&planner->policy, table, &planner->plan);
  if (error == RG_SUCCESS)
    return RG_SUCCESS;
  if (error == RG_ERR_NOMEM && planner->policy.interval > 0 && !planner->error)
    return error; /* of this process: in rounds the others carry out another plan */
  if (!planner->error)
    note_policy_error(planner, error);
  RGI_TRY(rg_policy_parse("none", &none));
  return rg_policy_plan(&none, table, &planner->plan);
}

int rgi_planner_starts(const rgi_planner *planner, int waiting) {
  for (int i = 0; i < planner->plan.count; i++)
    if (planner->plan.move[i].to == RG_MOVE_NO_ROW && planner->plan.move[i].walker == waiting)
      return 1;
  return 0;
}

/* The table that a policy gets: the rows of the load board, and what is known of other nodes. */

static int by_lowest(const void *a, const void *b) {
  const rgi_board_row *x = a, *y = b;
  return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

/* Only the walkers that are set aside on this node are known. */
static void note_awaited(const rgi_board *board, rgi_board_row rows[], int count,
                         rgi_planner *planner) {
  rgi_meeting_list aside = rgi_board_aside(board);
  for (int i = 0; i < count; i++)
    if (rows[i].load.state & RG_LOAD_ACTIVE)
      rows[i].load.awaited = rgi_meeting_list_awaits(aside, rows[i].walker);
  for (int i = 0; i < board->shared->count && i < RGI_QUEUE_SHOWN; i++)
    planner->waiting[i].awaited = rgi_meeting_list_awaits(aside, planner->waiting[i].id);
}

int rgi_planner_read_board(const rgi_board *board, const rgi_node_loads *others,
                           rgi_planner *planner, rg_load_table *table) {
  const rgi_board_shared *shared = board->shared;
  int most = board->members->size;
  int count = 0;
  rgi_board_row *rows = rgi_spare_alloc((size_t)most * sizeof *rows);
  if (!rows)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", most);
  for (int i = 0; i < shared->processes; i++)
    if (shared->row[i].leads)
      memcpy(&rows[count++], &shared->row[i], sizeof *rows);
  rgi_node_loads_rows(others, most, rows, &count);
  *table = rgi_planner_table(planner, rgi_board_waiting(board), shared->count);
  if (shared->aside)
    note_awaited(board, rows, count, planner);
  qsort(rows, (size_t)count, sizeof *rows, by_lowest);
  int self = 0;
  for (int i = 0; i < count; i++) {
    planner->rows[i] = rows[i].load;
    planner->stamps[i] = rows[i].stamp;
    if (rows[i].load.id == board->members->rank)
      self = i;
  }
  rgi_spare_free(rows);
  table->count = planner->row_count = count;
  table->self = self;
  table->merge = shared->merge;
  table->processors = others->nodes > 1 ? 0 : rgi_node.processors;
  return RG_SUCCESS;
}
