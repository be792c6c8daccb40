/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The parts of asynchronous balancing: a file for what groups tell and ask (asking.c), for
 * groups with a walker (at_work.c) and without (idle.c), and async.c, which puts them
 * together. */
#ifndef RGI_WALKERS_ASYNC_PARTS_H
#define RGI_WALKERS_ASYNC_PARTS_H

#include "walkers/async.h"

/* With the lock held: the leader's row, as things are now; how many it expects. */
void rgi_async_write_row(rg_balancer b, int coming);
int rgi_async_coming(rg_balancer b);
/* The same for all members, without the lock; this process leads no group any more. */
int rgi_async_tell(rg_balancer b);
int rgi_async_tell_nothing(rg_balancer b);
/* Whether some of the group may leave its walker now. */
int rgi_async_leavable(const struct rg_balancer_s *b);

/* Looks at requests that have come: a leader at work keeps those that mean its walker. */
int rgi_async_serve(rg_balancer b);
/* Of those kept, the ones that may join, and how many processes they are; or none. */
int rgi_async_choose_joiners(rg_balancer b, int *processes);
int rgi_async_refuse_all(rg_balancer b);

/* A unit, and what comes of it. */
int rgi_async_work_step(rg_balancer b, int *what);
/* The group has no walker any more; ended: it had one. */
int rgi_async_become_idle(rg_balancer b, int ended);
/* After a walker has begun, or its group has changed. */
int rgi_async_after(rg_balancer b, int next);
/* These are the group from now on. */
int rgi_async_merge_as(rg_balancer b, int n, const int ranks[]);

/* A look for work; wait: until there is something to do. */
int rgi_async_idle_step(rg_balancer b, int wait, int *what);

#endif
