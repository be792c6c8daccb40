/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group that has no walker. */
#ifndef RGI_WALKERS_IDLE_H
#define RGI_WALKERS_IDLE_H

#include <regroup/balance.h>

/* Looks for work once; with `wait`, until there is something to do. */
int rgi_idle_step(rg_balancer b, int wait, int *what);

#endif
