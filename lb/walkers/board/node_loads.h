/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: the groups of other nodes, and how many walkers wait there, as far as
 * these nodes have told. */
#ifndef RGI_BOARD_NODE_LOADS_H
#define RGI_BOARD_NODE_LOADS_H

#include "walkers/board/board.h"
#include "walkers/team/membership.h"

/* What a node has told last. */
typedef struct {
  int leader, waiting, count, room;
  rgi_board_row *row;
} rgi_node_loads_report;

typedef struct {
  rgi_node_loads_report *node;
  int nodes, mine;
  int news; /* the last report is newer than the last look of an idle leader */
} rgi_node_loads;

/* The node of waiting walker i at first: they are dealt to the nodes in turn. */
static inline int rgi_node_loads_first(int nodes, int i) {
  return i % nodes;
}

/* Finds the nodes and their leaders, the lowest ranks there. */
int rgi_node_loads_open(rgi_node_loads *loads, const rgi_membership *members);
void rgi_node_loads_close(rgi_node_loads *loads);

/* What this node tells, as *count numbers from the third one on, to be freed by the caller; and
 * takes that from a node. */
int rgi_node_loads_tell(rgi_board *board, int64_t **words, int64_t *count);
int rgi_node_loads_take(rgi_node_loads *loads, int node, const int64_t words[]);

/* Adds the rows of groups on other nodes, until there are `most`. */
void rgi_node_loads_rows(const rgi_node_loads *loads, int most, rgi_board_row *rows, int *count);
/* Notes that so many processes are on their way to a group of another node. */
void rgi_node_loads_promise(rgi_node_loads *loads, int leader, int64_t ranks);
/* A group of another node has refused: until its node tells its rows again, it cannot be joined. */
void rgi_node_loads_refuse(rgi_node_loads *loads, int leader);
/* Whether, as far as is known, no other node works. */
int rgi_node_loads_idle(const rgi_node_loads *loads);

#endif
