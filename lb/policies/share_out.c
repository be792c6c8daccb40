/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Idle processes are divided among the active groups so that these end together. A group gives
 * processes back when its unit was clearly shorter without them: otherwise work that loses by
 * larger groups would take longer than without balancing. */
#include "policies/free_ranks.h"
#include "policies/policy.h"

#define SLOWER 0.02 /* by this part at least, since times differ by chance */

int rgi_policy_share_out(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  return rgi_free_ranks_plan(table, policy->option[RGI_POLICY_COST], -SLOWER, plan);
}
