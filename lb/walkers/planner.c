/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asking the policy. A policy of the application may be wrong. That must stop no walker, and no
 * other process may wait for the one that found it out. So this process notes the error, asks the
 * policy no more and from now on only starts walkers that wait; rg_balance_end returns the error.
 */
#include <stdio.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/planner.h"

static void note_policy_error(rg_balancer b, int error) {
  b->policy_error = error;
  snprintf(b->policy_text, sizeof b->policy_text, "policy %s: %s",
           b->policy.name ? b->policy.name : "without a name", rg_error_detail());
}

int rgi_planner_ask(rg_balancer b, const rg_load_table *table) {
  rg_policy none = {.size = sizeof none};
  int error = b->policy_error ? b->policy_error : rg_policy_plan(&b->policy, table, &b->plan);
  if (error == RG_SUCCESS)
    return RG_SUCCESS;
  if (!b->policy_error)
    note_policy_error(b, error);
  RGI_TRY(rg_policy_parse("none", &none));
  return rg_policy_plan(&none, table, &b->plan);
}
