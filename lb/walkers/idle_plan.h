/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: the policy's plan for a group without a walker. */
#ifndef RGI_WALKERS_IDLE_PLAN_H
#define RGI_WALKERS_IDLE_PLAN_H

#include <regroup/balance.h>

/* Whether anything has changed since the policy was last asked. Without the lock: what changes
 * later rings this process's bell. */
int rgi_idle_plan_due(const struct rg_balancer_s *b);
/* Asks the policy. What the group is to do goes into the search; or into command, if it is to split
 * or the run has ended. With the load board's lock held. */
int rgi_idle_plan_make(rg_balancer b, int64_t command[2]);

#endif
