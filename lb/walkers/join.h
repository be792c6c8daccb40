/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: requests of other groups to join this one. */
#ifndef RGI_WALKERS_JOIN_H
#define RGI_WALKERS_JOIN_H

#include "walkers/internode.h"
#include "walkers/work.h"

/* A group that has asked. */
typedef struct {
  int leader, n;
  int *ranks;
} rgi_join_request;

/* The requests that are kept until the unit ends. */
typedef struct {
  const rgi_work *work;
  rgi_internode *nodes;
  rgi_join_request *at;
  int count, room;
} rgi_join;

/* Handles all messages that have come, those of buddies and other nodes too. A leader at work keeps
 * the requests for its walker. */
int rgi_join_serve(rgi_join *j);
/* Keeps of these requests those that may join, and refuses the others. *processes: how many
 * processes join. With the load board's lock held. */
int rgi_join_choose(rgi_join *j, int *processes);
/* Lists the members of the new group, n of them: first those of this one, then those that were
 * chosen; and sends the list to the leaders of the groups that join. */
int rgi_join_accept(rgi_join *j, int n, int ranks[]);
int rgi_join_refuse_all(rgi_join *j);
/* Drops the requests without an answer. */
void rgi_join_forget(rgi_join *j);
void rgi_join_close(rgi_join *j);

#endif
