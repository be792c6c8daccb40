/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * As published (Dinan et al., Noncollective Communicator Creation in MPI, EuroMPI
 * 2011): a group that has finished merges with the group to its right. */
#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"
#include "policies/policy.h"

static int has_room(const rg_load *load, int64_t more) {
  return !load->most || load->ranks + more <= load->most;
}

/* The group to the right, whether it is idle or not: it answers the request itself. */
static int ask_right(const rg_load_table *table, rg_plan *plan) {
  int64_t right = table->self + 1, ranks = table->load[table->self].ranks;
  if (right == table->count || !(table->load[right].state & RG_LOAD_JOINABLE) ||
      !has_room(&table->load[right], table->load[right].coming + ranks))
    return RG_SUCCESS;
  return rg_plan_add(
      plan,
      &(rg_move){.from = table->self, .to = right, .ranks = ranks, .walker = RG_MOVE_NO_WALKER});
}

/* The next active group to the right of each idle one. */
static int all_right(const rg_load_table *table, const int64_t left[], rg_plan *plan) {
  int64_t target = RG_MOVE_NO_ROW, more = 0;
  for (int64_t row = table->count - 1; row >= 0; row--) {
    const rg_load *load = &table->load[row];
    if (load->state & RG_LOAD_ACTIVE) {
      target = rgi_load_takes(load) ? row : RG_MOVE_NO_ROW;
      more = 0;
    } else if (left[row] > 0 && target != RG_MOVE_NO_ROW &&
               has_room(&table->load[target], more + left[row])) {
      RGI_TRY(rg_plan_add(
          plan,
          &(rg_move){.from = row, .to = target, .ranks = left[row], .walker = RG_MOVE_NO_WALKER}));
      more += left[row];
    }
  }
  return RG_SUCCESS;
}

static int at_once(const rg_load_table *table, rg_plan *plan) {
  int64_t *left = calloc((size_t)table->count + 1, sizeof *left);
  if (!left)
    return rgi_error(RG_ERR_NOMEM, "join-right: no memory for %lld rows", (long long)table->count);
  int error = rgi_load_start_waiting(table, plan, left);
  if (!error)
    error = all_right(table, left, plan);
  free(left);
  return error;
}

int rgi_policy_join_right(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  (void)policy;
  if (table->self == RG_LOAD_ALL_ROWS)
    return at_once(table, plan);
  if (!rgi_load_gives(table, table->self))
    return RG_SUCCESS;
  RGI_TRY(rgi_load_start_waiting(table, plan, NULL));
  return plan->count ? RG_SUCCESS : ask_right(table, plan);
}
