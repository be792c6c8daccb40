/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Idle processes are divided among the active groups so that these end together. */
#include <stdlib.h>

#include "base/error.h"
#include "policies/division.h"
#include "policies/load.h"
#include "policies/policy.h"

static double cost_of(const rg_policy *policy, const rg_load_table *table) {
  double cost = policy->option[RGI_POLICY_COST];
  return cost >= 0 ? cost : table->merge;
}

static int share_rest(const rg_load_table *table, double cost, char used[], int64_t give[],
                      rg_plan *plan) {
  RGI_TRY(rgi_load_start_waiting(table, plan, used));
  for (int64_t row = 0; row < table->count; row++)
    give[row] = rgi_load_gives(table, row) && !used[row] ? table->load[row].ranks : 0;
  return rgi_division_plan(table, give, cost, plan);
}

int rgi_policy_share_out(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  size_t rows = (size_t)table->count;
  char *used = calloc(rows + 1, 1);
  int64_t *give = calloc(rows + 1, sizeof *give);
  int error = used && give ? share_rest(table, cost_of(policy, table), used, give, plan)
                           : rgi_error(RG_ERR_NOMEM, "share-out: no memory for %zu rows", rows);
  free(used);
  free(give);
  return error;
}
