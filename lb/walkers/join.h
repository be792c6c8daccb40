/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: requests of other groups to join this one. */
#ifndef RGI_WALKERS_JOIN_H
#define RGI_WALKERS_JOIN_H

#include <regroup/balance.h>

/* A group that has asked to join. */
typedef struct {
  int leader, n;
  int *ranks;
} rgi_join_request;

/* Looks at everything that has come: a leader at work keeps the requests that mean its walker. */
int rgi_join_serve(rg_balancer b);
/* Of those kept, the ones that may join, and how many processes they are; or none. With the lock
 * held. */
int rgi_join_choose(rg_balancer b, int *processes);
int rgi_join_refuse_all(rg_balancer b);

#endif
