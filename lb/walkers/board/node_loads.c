/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A node tells its rows of the load board as whole numbers of 64 bits: the number of walkers that
 * wait, the number of rows, and the rows, each in as many numbers as hold its bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/board/board.h"
#include "walkers/board/node_loads.h"
#include "walkers/team/membership.h"

enum { ROW_WORDS = (sizeof(rgi_board_row) + 7) / 8 };

static int add_node(rgi_node_loads *l, int leader) {
  rgi_node_loads_report *more = realloc(l->node, (size_t)(l->nodes + 1) * sizeof *more);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", l->nodes + 1);
  l->node = more;
  l->node[l->nodes++] = (rgi_node_loads_report){.leader = leader};
  return RG_SUCCESS;
}

int rgi_node_loads_open(rgi_node_loads *l, const rgi_membership *m) {
  *l = (rgi_node_loads){0};
  for (int r = 0; r < m->size; r++) {
    int i = 0, of = rgi_membership_node_of(m, r);
    while (i < l->nodes && rgi_membership_node_of(m, l->node[i].leader) != of)
      i++;
    if (i == l->nodes)
      RGI_TRY(add_node(l, r));
    if (r == m->rank)
      l->mine = i;
  }
  return RG_SUCCESS;
}

void rgi_node_loads_close(rgi_node_loads *l) {
  for (int i = 0; i < l->nodes; i++)
    free(l->node[i].row);
  free(l->node);
  *l = (rgi_node_loads){0};
}

int rgi_node_loads_tell(rgi_board *b, int64_t **words, int64_t *count) {
  const rgi_board_shared *board = b->shared;
  int64_t *to = calloc((size_t)(3 + board->processes * ROW_WORDS), sizeof *to);
  int rows = 0;
  *words = to;
  if (!to)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d rows", board->processes);
  RGI_TRY(rgi_board_lock(b));
  for (int i = 0; i < board->processes; i++)
    if (board->row[i].leads)
      memcpy(to + 3 + ROW_WORDS * rows++, &board->row[i], sizeof(rgi_board_row));
  to[1] = board->count;
  to[2] = rows;
  rgi_board_unlock(b);
  *count = 3 + ROW_WORDS * rows;
  return RG_SUCCESS;
}

int rgi_node_loads_take(rgi_node_loads *l, int node, const int64_t words[]) {
  rgi_node_loads_report *n = &l->node[node];
  int count = (int)words[2];
  if (count > n->room) {
    rgi_board_row *more = realloc(n->row, (size_t)count * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d rows", count);
    n->row = more;
    n->room = count;
  }
  for (int i = 0; i < count; i++)
    memcpy(&n->row[i], words + 3 + ROW_WORDS * i, sizeof(rgi_board_row));
  n->count = count;
  n->waiting = (int)words[1];
  l->news = 1;
  return RG_SUCCESS;
}

void rgi_node_loads_rows(const rgi_node_loads *l, int most, rgi_board_row *rows, int *count) {
  for (int i = 0; i < l->nodes; i++)
    for (int k = 0; k < l->node[i].count && *count < most; k++)
      rows[(*count)++] = l->node[i].row[k];
}

void rgi_node_loads_promise(rgi_node_loads *l, int leader, int64_t ranks) {
  for (int i = 0; i < l->nodes; i++)
    for (int k = 0; k < l->node[i].count; k++)
      if (l->node[i].row[k].load.id == leader)
        l->node[i].row[k].load.coming += ranks;
}

void rgi_node_loads_refuse(rgi_node_loads *l, int leader) {
  for (int i = 0; i < l->nodes; i++)
    for (int k = 0; k < l->node[i].count; k++)
      if (l->node[i].row[k].load.id == leader)
        l->node[i].row[k].load.state &= ~RG_LOAD_JOINABLE;
}

int rgi_node_loads_idle(const rgi_node_loads *l) {
  for (int i = 0; i < l->nodes; i++) {
    if (i != l->mine && !l->node[i].row)
      return 0;
    for (int k = 0; k < l->node[i].count; k++)
      if (l->node[i].row[k].load.state & RG_LOAD_ACTIVE)
        return 0;
  }
  return 1;
}
