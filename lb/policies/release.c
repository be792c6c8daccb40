/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * As share-out; besides, a group gives processes back when its unit took no longer without them, as
 * measured at the smaller size. */
#include "policies/free_ranks.h"
#include "policies/policy.h"

int rgi_policy_release(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  return rgi_free_ranks_plan(table, policy->option[RGI_POLICY_COST],
                             policy->option[RGI_POLICY_GAIN], plan);
}
