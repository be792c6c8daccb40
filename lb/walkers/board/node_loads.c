/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A node tells its rows of the load board as whole numbers of 64 bits: the number of walkers that
 * wait, the number of rows, and the rows, each in as many numbers as hold its bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/board/board.h"
#include "walkers/board/node_loads.h"
#include "walkers/team/membership.h"

enum { ROW_WORDS = (sizeof(rgi_board_row) + 7) / 8 };

static int add_node(rgi_node_loads *loads, int leader) {
  rgi_node_loads_report *more = realloc(loads->node, (size_t)(loads->nodes + 1) * sizeof *more);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", loads->nodes + 1);
  loads->node = more;
  loads->node[loads->nodes++] = (rgi_node_loads_report){.leader = leader};
  return RG_SUCCESS;
}

int rgi_node_loads_open(rgi_node_loads *loads, const rgi_membership *members) {
  *loads = (rgi_node_loads){0};
  for (int r = 0; r < members->size; r++) {
    int i = 0, of = rgi_membership_node_of(members, r);
    while (i < loads->nodes && rgi_membership_node_of(members, loads->node[i].leader) != of)
      i++;
    if (i == loads->nodes)
      RGI_TRY(add_node(loads, r));
    if (r == members->rank)
      loads->mine = i;
  }
  return RG_SUCCESS;
}

void rgi_node_loads_close(rgi_node_loads *loads) {
  for (int i = 0; i < loads->nodes; i++)
    rgi_spare_free(loads->node[i].row);
  rgi_spare_free(loads->node);
  *loads = (rgi_node_loads){0};
}

int rgi_node_loads_tell(rgi_board *board, int64_t **words, int64_t *count) {
  const rgi_board_shared *shared = board->shared;
  int64_t *to = calloc((size_t)(3 + shared->processes * ROW_WORDS), sizeof *to);
  int rows = 0;
  *words = to;
  if (!to)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d rows", shared->processes);
  RGI_TRY(rgi_board_lock(board));
  for (int i = 0; i < shared->processes; i++)
    if (shared->row[i].leads)
      memcpy(to + 3 + ROW_WORDS * rows++, &shared->row[i], sizeof(rgi_board_row));
  to[1] = shared->count;
  to[2] = rows;
  rgi_board_unlock(board);
  *count = 3 + ROW_WORDS * rows;
  return RG_SUCCESS;
}

int rgi_node_loads_take(rgi_node_loads *loads, int node, const int64_t words[]) {
  rgi_node_loads_report *report = &loads->node[node];
  int count = (int)words[2];
  if (count > report->room) {
    rgi_board_row *more = realloc(report->row, (size_t)count * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d rows", count);
    report->row = more;
    report->room = count;
  }
  for (int i = 0; i < count; i++)
    memcpy(&report->row[i], words + 3 + ROW_WORDS * i, sizeof(rgi_board_row));
  report->count = count;
  report->waiting = (int)words[1];
  loads->news = 1;
  return RG_SUCCESS;
}

void rgi_node_loads_rows(const rgi_node_loads *loads, int most, rgi_board_row *rows, int *count) {
  for (int i = 0; i < loads->nodes; i++)
    for (int k = 0; k < loads->node[i].count && *count < most; k++)
      rows[(*count)++] = loads->node[i].row[k];
}

void rgi_node_loads_promise(rgi_node_loads *loads, int leader, int64_t ranks) {
  for (int i = 0; i < loads->nodes; i++)
    for (int k = 0; k < loads->node[i].count; k++)
      if (loads->node[i].row[k].load.id == leader)
        loads->node[i].row[k].load.coming += ranks;
}

void rgi_node_loads_refuse(rgi_node_loads *loads, int leader) {
  for (int i = 0; i < loads->nodes; i++)
    for (int k = 0; k < loads->node[i].count; k++)
      if (loads->node[i].row[k].load.id == leader)
        loads->node[i].row[k].load.state &= ~RG_LOAD_JOINABLE;
}

int rgi_node_loads_idle(const rgi_node_loads *loads) {
  for (int i = 0; i < loads->nodes; i++) {
    if (i != loads->mine && !loads->node[i].row)
      return 0;
    for (int k = 0; k < loads->node[i].count; k++)
      if (loads->node[i].row[k].load.state & RG_LOAD_ACTIVE)
        return 0;
  }
  return 1;
}
