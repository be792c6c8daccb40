/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "policies/policy.h"

#define COST                                                                                       \
  { "cost", -1, 0, 1e6 }

const rgi_policy_row rgi_policy_table[] = {
    {.name = "none", .summary = "no group joins another", .options = "", .plan = rgi_policy_none},
    {.name = "join-right",
     .summary = "an idle group joins the group to its right, as published",
     .options = "",
     .plan = rgi_policy_join_right},
    {.name = "sync",
     .summary = "after every i units idle groups join the next active one to their right, as "
                "published",
     .options = "",
     .interval = 16,
     .plan = rgi_policy_join_right},
    {.name = "most-work",
     .summary = "an idle group joins the group with the longest time to go",
     .options = "",
     .plan = rgi_policy_most_work},
    {.name = "share-out",
     .summary = "idle processes are divided so that the active groups end together (default)",
     .options = "cost=SECONDS (as measured)",
     .asks = RG_POLICY_ASKS_ACTIVE,
     .plan = rgi_policy_share_out,
     .option = {COST}},
    {.name = "release",
     .summary = "share-out, and a group gives back processes by which it does not gain",
     .options = "cost=SECONDS (as measured), gain=PART (0.02)",
     .asks = RG_POLICY_ASKS_ACTIVE,
     .plan = rgi_policy_release,
     .option = {COST, {"gain", 0.02, 0, 1}}},
};
const int rgi_policy_table_count = sizeof rgi_policy_table / sizeof *rgi_policy_table;
