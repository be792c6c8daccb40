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
static void note_awaited(const rgi_board *b, rgi_board_row rows[], int count, rgi_planner *p) {
  rgi_meeting_list aside = rgi_board_aside(b);
  for (int i = 0; i < count; i++)
    if (rows[i].load.state & RG_LOAD_ACTIVE)
      rows[i].load.awaited = rgi_meeting_list_awaits(aside, rows[i].walker);
  for (int i = 0; i < b->shared->count && i < RGI_QUEUE_SHOWN; i++)
    p->waiting[i].awaited = rgi_meeting_list_awaits(aside, p->waiting[i].id);
}

int rgi_planner_read_board(const rgi_board *b, const rgi_node_loads *others, rgi_planner *p,
                           rg_load_table *t) {
  const rgi_board_shared *board = b->shared;
  int most = b->members->size;
  int count = 0;
  rgi_board_row *rows = malloc((size_t)most * sizeof *rows);
  if (!rows)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", most);
  for (int i = 0; i < board->processes; i++)
    if (board->row[i].leads)
      memcpy(&rows[count++], &board->row[i], sizeof *rows);
  rgi_node_loads_rows(others, most, rows, &count);
  *t = rgi_planner_table(p, rgi_board_waiting(b), board->count);
  if (board->aside)
    note_awaited(b, rows, count, p);
  qsort(rows, (size_t)count, sizeof *rows, by_lowest);
  int self = 0;
  for (int i = 0; i < count; i++) {
    p->rows[i] = rows[i].load;
    p->stamps[i] = rows[i].stamp;
    if (rows[i].load.id == b->members->rank)
      self = i;
  }
  free(rows);
  t->count = p->row_count = count;
  t->self = self;
  t->merge = board->merge;
  t->processors = others->nodes > 1 ? 0 : rgi_node.processors;
  return RG_SUCCESS;
}
