/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What policies ask of the rows of a load table. */
#ifndef RGI_POLICIES_LOAD_H
#define RGI_POLICIES_LOAD_H

#include <math.h>
#include <regroup/policy.h>

/* Whether units left, or seconds, are such: RG_LOAD_UNKNOWN, or finite and not negative. */
static inline int rgi_load_is_left(double left) {
  return left == RG_LOAD_UNKNOWN || (left >= 0 && isfinite(left));
}

/* Whether a row gives its processes away in this call: it is idle, and it is the row that asks or
 * the call is for all rows. */
int rgi_load_gives(const rg_load_table *table, int64_t row);

/* Whether processes of row `from` leave their node when they join row `to`. */
static inline int rgi_load_crosses(const rg_load_table *table, int64_t from, int64_t to) {
  int a = table->load[from].node, b = table->load[to].node;
  return a > 0 && b > 0 && a != b;
}

/* Whether a row can take processes, with work to do. */
int rgi_load_takes(const rg_load *load);

/* Processors that no active row uses that computes, processes on their way included; INFINITY if it
 * is not known. Rows whose processes sleep most of the time do not count. */
double rgi_load_free_processors(const rg_load_table *table);

/* Seconds by which the rest of row `to` takes longer if processes of row `from` join it. */
double rgi_load_crossing(const rg_load_table *table, int64_t from, int64_t to);

/* Seconds until the row's work ends with so many processes. */
double rgi_load_seconds(const rg_load *load, int64_t ranks);

/* Seconds that a waiting walker takes on so many processes: units and their time are taken as one
 * where they are not known. */
double rgi_load_waiting_seconds(const rg_waiting_walker *waiting, int64_t ranks);

/* The least number of processes with which a waiting walker can start; more than a job can have
 * stands for all such numbers. */
static inline int64_t rgi_load_need(const rg_waiting_walker *waiting) {
  return waiting->least < 1            ? 1
         : waiting->least <= INT32_MAX ? waiting->least
                                       : (int64_t)INT32_MAX + 1;
}

/* Lets the idle rows that give start the waiting walkers, the longest first. A walker gets all
 * processes of the first row that has enough, up to its `most`; the others start the next one. A
 * walker that needs more processes than any of these rows has is left waiting. left: NULL, or for
 * each row the processes that it still gives: set by the call. */
int rgi_load_start_waiting(const rg_load_table *table, rg_plan *plan, int64_t left[]);

/* Whether the count, the sizes and the seconds of a pace are as regroup/policy.h says (pace.c). */
int rgi_load_is_pace(const rg_pace *pace);

/* RG_ERR_ARG unless the table has the rows and the walkers that it counts (plan.c). */
int rgi_load_check_table(const char *call, const rg_load_table *table);

#endif
