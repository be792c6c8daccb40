/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stddef.h>

#include "policies/load.h"
#include "policies/policy.h"

int rgi_policy_none(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  (void)policy;
  return rgi_load_start_waiting(table, plan, NULL);
}
