/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table that a policy gets: the rows of the load board, and what is known of other nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shm/node.h"
#include "walkers/board/board.h"
#include "walkers/board/node_loads.h"
#include "walkers/board/planner.h"
#include "walkers/team/queue.h"

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
  rgi_board_row *rows = malloc((size_t)most * sizeof *rows);
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
  free(rows);
  table->count = planner->row_count = count;
  table->self = self;
  table->merge = shared->merge;
  table->processors = others->nodes > 1 ? 0 : rgi_node.processors;
  return RG_SUCCESS;
}
