/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The policy, what it is shown, and its plan. */
#ifndef RGI_BOARD_PLANNER_H
#define RGI_BOARD_PLANNER_H

#include <regroup/policy.h>

#include "walkers/board/board.h"
#include "walkers/board/node_loads.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

typedef struct {
  rg_policy policy;
  int error; /* the policy was wrong, and is asked no more */
  char text[RGI_OUTCOME_TEXT];
  rg_load *rows; /* one for each group; row_count of them */
  int row_count;
  int64_t *stamps; /* of their walkers, in asynchronous balancing */
  rg_waiting_walker waiting[RGI_QUEUE_SHOWN];
  rg_plan plan;
} rgi_planner;

/* Makes room for the rows of so many groups. A second call does nothing. */
int rgi_planner_open(rgi_planner *planner, int groups);
void rgi_planner_close(rgi_planner *planner);

/* The table of the rows and of the walkers that wait, `count` of them. */
rg_load_table rgi_planner_table(rgi_planner *planner, const rgi_queue_entry waiting[], int count);
/* Puts the policy's plan into planner->plan; once the policy has been wrong, the plan of "none". */
int rgi_planner_ask(rgi_planner *planner, const rg_load_table *table);
/* Whether the plan starts this one of the walkers that wait. */
int rgi_planner_starts(const rgi_planner *planner, int waiting);
/* The name of the policy, or "". */
const char *rgi_planner_name(const rgi_planner *planner);

/* --- in asynchronous balancing ------------------------------------------------------------ */

/* The table with this process's group as the one that asks; *table points into the planner. With
 * the load board's lock held. */
int rgi_planner_read_board(const rgi_board *board, const rgi_node_loads *others,
                           rgi_planner *planner, rg_load_table *table);

#endif
