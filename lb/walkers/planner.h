/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asking the policy. */
#ifndef RGI_WALKERS_PLANNER_H
#define RGI_WALKERS_PLANNER_H

#include <regroup/balance.h>

/* The policy's plan, in b->plan; without it where the policy is wrong. */
int rgi_planner_ask(rg_balancer b, const rg_load_table *table);

#endif
