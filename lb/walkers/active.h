/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group that has a walker. */
#ifndef RGI_WALKERS_ACTIVE_H
#define RGI_WALKERS_ACTIVE_H

#include <regroup/balance.h>

/* A unit, and what comes of it. */
int rgi_active_step(rg_balancer b, int *what);
/* After a walker has begun, or its group has changed. */
int rgi_active_continue(rg_balancer b, int next);
/* These are the group from now on. */
int rgi_active_merge(rg_balancer b, int n, const int ranks[]);
/* The group has no walker any more; ended: it had one. */
int rgi_active_become_idle(rg_balancer b, int ended);

#endif
