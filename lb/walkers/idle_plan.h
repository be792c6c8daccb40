/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: the policy's plan for a group without a walker. */
#ifndef RGI_WALKERS_IDLE_PLAN_H
#define RGI_WALKERS_IDLE_PLAN_H

#include <regroup/balance.h>

/* Asks the policy, if anything has changed. What the group is to do goes into the search; or into
 * command, if it is to split or the run has ended. With the load board's lock held. */
int rgi_idle_plan_make(rg_balancer b, int64_t command[2]);

#endif
