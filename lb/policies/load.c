/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a row of the load table says of its group's future. Units that are left are known, or
 * estimated by those done (a walker that has done n is taken to have n more to do); seconds come
 * from the measured pace. */
#include <regroup/policy.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"

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

/* The time of a unit at the present size is known best; the pace says how it changes with the size.
 * The division comes last, so that equal times are equal to the last bit and ties are seen. */
double rgi_load_seconds(const rg_load *load, int64_t ranks) {
  double now = rg_pace_at(&load->pace, load->ranks), then = rg_pace_at(&load->pace, ranks);
  double left = units_left(load);
  if (load->unit < 0)
    return then < 0 ? left / (double)ranks : left * then;
  left *= load->unit;
  return then < 0 ? left * (double)load->ranks / (double)ranks : left * then / now;
}

static int may_start(const rg_load_table *table, int64_t row, const char used[], int64_t least) {
  return rgi_load_gives(table, row) && table->load[row].ranks >= least && !used[row];
}

static int start_waiting(const rg_load_table *table, rg_plan *plan, char used[]) {
  int64_t row = table->self == RG_LOAD_ALL_ROWS ? 0 : table->self;
  int64_t end = table->self == RG_LOAD_ALL_ROWS ? table->count : row + 1;
  for (int64_t w = 0; w < table->waiting_count && row < end; w++) {
    int64_t found = row;
    while (found < end && !may_start(table, found, used, table->waiting[w].least))
      found++;
    if (found == end)
      continue;
    RGI_TRY(rg_plan_add(plan, &(rg_move){found, RG_MOVE_NO_ROW, table->load[found].ranks, w, {0}}));
    used[found] = 1;
    while (row < end && (!rgi_load_gives(table, row) || used[row]))
      row++;
  }
  return RG_SUCCESS;
}

int rgi_load_start_waiting(const rg_load_table *table, rg_plan *plan, char used[]) {
  if (table->waiting_count == 0)
    return RG_SUCCESS;
  if (used)
    return start_waiting(table, plan, used);
  char *own = calloc((size_t)table->count, 1);
  if (!own)
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld rows", (long long)table->count);
  int error = start_waiting(table, plan, own);
  free(own);
  return error;
}
