/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Divides processes among the walkers that wait. */
#ifndef RGI_POLICIES_WAITING_H
#define RGI_POLICIES_WAITING_H

#include <regroup/policy.h>

/* Adds moves by which waiting walkers start on the processes that rows give, left[row] of each row;
 * reduces left[] by what the moves take. If there are more walkers than processes, each that starts
 * gets the least number that it needs, the longest first; else they get so many that they end
 * together, at most `most`. Processes that no walker can use stay in left[]. In asynchronous
 * balancing the row that asks leaves walkers to the other idle rows, in proportion.
 * O((rows + walkers + processes) log walkers) where all walkers need as many processes at least;
 * otherwise each row may look at all of them. */
int rgi_waiting_start(const rg_load_table *table, int64_t left[], rg_plan *plan);

/* The work of all rows and waiting walkers. */
typedef struct {
  double seconds;   /* that all processes together need for it */
  int64_t unserved; /* the waiting walkers for which idle rows have no process */
  int64_t need;     /* the least number of processes with which one of them can start */
  double cost;      /* seconds of forming a group */
} rgi_waiting_sum;

/* O(rows + walkers). */
rgi_waiting_sum rgi_waiting_sum_up(const rg_load_table *table, double cost);

/* How many processes an active row can spare for walkers that wait, such that its own work does not
 * end later than all work could. It spares none if no walker could use them, or if its work ends
 * before new groups would pay. */
int64_t rgi_waiting_spare(const rgi_waiting_sum *sum, const rg_load *row);

/* Whether an idle row should stay idle, so that others can join it or it can join others, since a
 * walker waits that needs more processes than the row has and that is longer than all active rows.
 */
int rgi_waiting_holds(const rg_load_table *table, const rg_plan *plan, int64_t ranks);

#endif
