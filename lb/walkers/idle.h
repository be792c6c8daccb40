/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group that has no walker. */
#ifndef RGI_WALKERS_IDLE_H
#define RGI_WALKERS_IDLE_H

#include <regroup/balance.h>
#include <regroup/request.h>

#include "walkers/queue.h"

/* What a group is told by its leader. */
enum { RGI_IDLE_JOIN = 1, RGI_IDLE_START, RGI_IDLE_SPLIT, RGI_IDLE_END };

/* What a part of the group is to do. */
typedef struct {
  int64_t ranks;
  int64_t target; /* the leader whose group it joins, or -1 */
  int64_t stamp;  /* of that group's walker */
  int64_t starts; /* whether it starts this walker */
  int64_t credit; /* that comes with it from another node, or -1 */
  rgi_queue_entry entry;
} rgi_idle_part;

typedef struct {
  rgi_idle_part part; /* what this group's leader has been told to do next */
  int asked;          /* the leader that was asked and has not answered, or -1 */
  int64_t seen;       /* version of the load board that was looked at */
  int pending;        /* a command is being waited for */
  int n;              /* members of the group to join */
  int *ranks;
  rg_request request;
  int64_t command[2];
  double since; /* when it became idle */
} rgi_idle;

/* A look for work; wait: until there is something to do. */
int rgi_idle_step(rg_balancer b, int wait, int *what);

#endif
