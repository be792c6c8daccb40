/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group that has a walker. */
#ifndef RGI_ASYNC_ACTIVE_H
#define RGI_ASYNC_ACTIVE_H

#include <regroup/balance.h>

#include "walkers/state/search.h"

/* Does a unit, and what the leader decides then. */
int rgi_active_step(rg_balancer balancer, int *what);
/* What comes after a walker has begun, or its group has changed: next is an RGI_WORK_... */
int rgi_active_continue(rg_balancer balancer, int next);
/* Forms the group of these ranks and hands the walker over to its new members. */
int rgi_active_merge(rg_balancer balancer, int n, const int ranks[]);
/* The group has no walker any more. ended: one of this node's walkers has ended. task: what the
 * group is to do next, if that is known; or NULL. */
int rgi_active_become_idle(rg_balancer balancer, int ended, const rgi_search_part *task);

#endif
