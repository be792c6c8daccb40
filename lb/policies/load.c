/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a row of the load table says of its group's future. Units that are left are known, or
 * estimated by those done (a walker that has done n is taken to have n more to do); seconds come
 * from the measured pace. */
#include "policies/load.h"

#include <math.h>
#include <regroup/policy.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

int rgi_load_gives(const rg_load_table *table, int64_t row) {
  return !(table->load[row].state & RG_LOAD_ACTIVE) &&
         (table->self == row || table->self == RG_LOAD_ALL_ROWS);
}

int rgi_load_takes(const rg_load *load) {
  int wanted = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE;
  return (load->state & wanted) == wanted && load->left != 0;
}

/* Units that are left, estimated if they are not known. */
static double units_left(const rg_load *load) {
  if (load->left >= 0)
    return load->left;
  return load->done > 1 ? load->done : 1;
}

double rgi_load_crossing(const rg_load_table *table, int64_t from, int64_t to) {
  return rgi_load_crosses(table, from, to) ? table->cross * (1 + units_left(&table->load[to])) : 0;
}

/* The time of a unit at the present size is known best; the pace says how it changes with the size.
 * The division comes last, so that equal times are equal to the last bit and ties are seen. */
double rgi_load_seconds(const rg_load *load, int64_t ranks) {
  double now = rg_pace_at(&load->pace, load->ranks), then = rg_pace_at(&load->pace, ranks);
  double left = units_left(load);
  if (!(load->unit > 0))
    return then < 0 ? left / (double)ranks : left * then;
  left *= load->unit;
  return then < 0 ? left * (double)load->ranks / (double)ranks : left * then / now;
}

#define COMPUTES 0.5 /* processes that use less sleep: they leave processors to others */
#define IN_USE 0.9   /* this part of all processors in use: none is free */

double rgi_load_free_processors(const rg_load_table *table) {
  double used = 0;
  if (!(table->processors > 0))
    return INFINITY;
  for (int64_t i = 0; i < table->count; i++) {
    const rg_load *load = &table->load[i];
    if ((load->state & RG_LOAD_ACTIVE) && load->busy >= COMPUTES)
      used += load->busy * (double)(load->ranks + load->coming);
  }
  return used < IN_USE * table->processors ? table->processors - used : 0;
}

double rgi_load_waiting_seconds(const rg_waiting_walker *waiting, int64_t ranks) {
  double left = waiting->left >= 0 ? waiting->left : 1,
         unit = waiting->unit > 0 ? waiting->unit : 1;
  return left * unit / (double)ranks;
}

/* The first row that has enough processes for a walker, or `end`. */
static int64_t find_row(const int64_t left[], int64_t row, int64_t end, int64_t need) {
  while (row < end && left[row] < need)
    row++;
  return row;
}

static int start_waiting(const rg_load_table *table, rg_plan *plan, int64_t left[]) {
  int64_t row = 0, end = table->count;
  for (int64_t i = 0; i < end; i++)
    left[i] = rgi_load_gives(table, i) ? table->load[i].ranks : 0;
  for (int64_t w = 0; w < table->waiting_count && row < end; w++) {
    const rg_waiting_walker *walker = &table->waiting[w];
    row = find_row(left, row, end, 1);
    int64_t found = find_row(left, row, end, rgi_load_need(walker));
    if (found == end)
      continue;
    int64_t ranks = walker->most && walker->most < left[found] ? walker->most : left[found];
    RGI_TRY(rg_plan_add(
        plan, &(rg_move){.from = found, .to = RG_MOVE_NO_ROW, .ranks = ranks, .walker = w}));
    left[found] -= ranks;
  }
  return RG_SUCCESS;
}

int rgi_load_start_waiting(const rg_load_table *table, rg_plan *plan, int64_t left[]) {
  if (left)
    return start_waiting(table, plan, left);
  if (table->waiting_count == 0)
    return RG_SUCCESS;
  int64_t *own = calloc((size_t)table->count + 1, sizeof *own);
  if (!own)
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld rows", (long long)table->count);
  int error = start_waiting(table, plan, own);
  free(own);
  return error;
}
