/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: what this process's group says of itself on the load board. */
#ifndef RGI_WALKERS_OWN_LOAD_H
#define RGI_WALKERS_OWN_LOAD_H

#include <regroup/balance.h>

/* With the lock held: the leader's row, as things are now; how many it expects. */
void rgi_own_load_write(rg_balancer b, int coming);
int rgi_own_load_coming(rg_balancer b);

/* The same for all members, without the lock; this process leads no group any more. */
int rgi_own_load_publish(rg_balancer b);
int rgi_own_load_withdraw(rg_balancer b);

/* Whether others may join the group now; whether some of it may leave its walker. */
int rgi_own_load_joinable(const struct rg_balancer_s *b);
int rgi_own_load_leavable(const struct rg_balancer_s *b);

#endif
