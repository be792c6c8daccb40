/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: requests of other groups to join this one. */
#ifndef RGI_WALKERS_JOIN_H
#define RGI_WALKERS_JOIN_H

#include <regroup/balance.h>

/* Handles all messages that have come, those of buddies and other nodes too. A leader at work keeps
 * the requests for its walker. */
int rgi_join_serve(rg_balancer b);
/* Keeps of these requests those that may join, and refuses the others. *processes: how many
 * processes join. With the load board's lock held. */
int rgi_join_choose(rg_balancer b, int *processes);
int rgi_join_refuse_all(rg_balancer b);

#endif
