/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/internode.h"
#include "walkers/load_board.h"
#include "walkers/load_table.h"
#include "walkers/queue.h"

static int by_lowest(const void *a, const void *b) {
  const rgi_load_board_row *x = a, *y = b;
  return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

int rgi_load_table_make(rg_balancer b, rg_load_table *t) {
  rgi_load_board *board = b->board;
  int count = 0, shown = board->count < RGI_QUEUE_SHOWN ? board->count : RGI_QUEUE_SHOWN;
  rgi_load_board_row *rows = malloc((size_t)b->size * sizeof *rows);
  if (!rows)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", b->size);
  for (int i = 0; i < board->processes; i++)
    if (board->row[i].leads)
      memcpy(&rows[count++], &board->row[i], sizeof *rows);
  rgi_internode_rows(b, rows, &count);
  qsort(rows, (size_t)count, sizeof *rows, by_lowest);
  *t = (rg_load_table){.size = sizeof *t,
                       .load = b->rows,
                       .count = count,
                       .waiting = b->waiting,
                       .waiting_count = shown,
                       .merge = board->merge};
  rgi_queue_show(rgi_load_board_waiting(board), shown, b->waiting);
  for (int i = 0; i < count; i++) {
    b->rows[i] = rows[i].load;
    b->row_stamps[i] = rows[i].stamp;
    if (rows[i].load.id == b->rank)
      t->self = i;
  }
  b->row_count = count;
  free(rows);
  return RG_SUCCESS;
}
