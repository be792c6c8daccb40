/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: the row of this process's group on the load board. */
#ifndef RGI_WALKERS_OWN_LOAD_H
#define RGI_WALKERS_OWN_LOAD_H

#include <regroup/balance.h>

/* The leader writes its row as things are now; `coming`: processes on their way to the group. And
 * how many are on their way. With the lock held. */
void rgi_own_load_write(rg_balancer b, int coming);
int rgi_own_load_coming(rg_balancer b);

/* Writes the row if this process is the leader; removes the row. Without the lock. */
int rgi_own_load_publish(rg_balancer b);
int rgi_own_load_withdraw(rg_balancer b);

/* Whether processes may join the group now; whether members may leave its walker. */
int rgi_own_load_joinable(const struct rg_balancer_s *b);
int rgi_own_load_leavable(const struct rg_balancer_s *b);

#endif
