/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group that has no walker. */
#ifndef RGI_ASYNC_IDLE_H
#define RGI_ASYNC_IDLE_H

#include <regroup/balance.h>

/* Looks for work once; with `wait`, until there is something to do. */
int rgi_idle_step(rg_balancer balancer, int wait, int *what);

/* --- the plan of the policy --------------------------------------------------------------- */

/* Whether anything has changed since the policy was last asked. Without the lock: what changes
 * later rings this process's bell. */
int rgi_idle_plan_due(const struct rg_balancer_s *balancer);
/* Asks the policy. What the group is to do goes into the search; or into command, if it is to split
 * or the run has ended. With the load board's lock held. */
int rgi_idle_plan_make(rg_balancer balancer, int64_t command[2]);

/* --- what the leader tells the group to do ------------------------------------------------ */

enum {
  RGI_IDLE_COMMAND_JOIN = 1, /* another group, whose members the leader has in its search */
  RGI_IDLE_COMMAND_START,    /* the walker of the search */
  RGI_IDLE_COMMAND_SPLIT,    /* into parts of which each has something else to do; their number */
  RGI_IDLE_COMMAND_GATHER,   /* with other idle groups; the members are in the search */
  RGI_IDLE_COMMAND_END
};

/* Obeys a command and its number. All members call. */
int rgi_idle_command_obey(rg_balancer balancer, const int64_t command[2]);

#endif
