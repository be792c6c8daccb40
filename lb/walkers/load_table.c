/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shm/node.h"
#include "walkers/load_board.h"
#include "walkers/load_table.h"
#include "walkers/node_loads.h"
#include "walkers/planner.h"
#include "walkers/queue.h"

static int by_lowest(const void *a, const void *b) {
  const rgi_load_board_row *x = a, *y = b;
  return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

int rgi_load_table_make(const rgi_load_board *b, const rgi_node_loads *others, rgi_planner *p,
                        rg_load_table *t) {
  const rgi_load_board_shared *board = b->shared;
  int most = b->members->size;
  int count = 0;
  rgi_load_board_row *rows = malloc((size_t)most * sizeof *rows);
  if (!rows)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", most);
  for (int i = 0; i < board->processes; i++)
    if (board->row[i].leads)
      memcpy(&rows[count++], &board->row[i], sizeof *rows);
  rgi_node_loads_rows(others, most, rows, &count);
  qsort(rows, (size_t)count, sizeof *rows, by_lowest);
  int self = 0;
  for (int i = 0; i < count; i++) {
    p->rows[i] = rows[i].load;
    p->stamps[i] = rows[i].stamp;
    if (rows[i].load.id == b->members->rank)
      self = i;
  }
  free(rows);
  p->row_count = count;
  *t = rgi_planner_table(p, rgi_load_board_waiting(b), board->count);
  t->self = self;
  t->merge = board->merge;
  t->processors = others->nodes > 1 ? 0 : rgi_node.processors;
  return RG_SUCCESS;
}
