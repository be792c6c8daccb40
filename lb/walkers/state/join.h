/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: requests of other groups to join this one. A group at work keeps them
 * until its unit ends; an idle one that gathers processes for a walker that waits takes them at
 * once. */
#ifndef RGI_STATE_JOIN_H
#define RGI_STATE_JOIN_H

#include "walkers/board/internode.h"
#include "walkers/work/work.h"

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
  int count;
  int64_t room;
  int gathers; /* the group is idle, has found nothing to do, and may be joined all the same */
} rgi_join;

/* Handles all messages that have come, those of buddies and other nodes too. A leader at work keeps
 * the requests for its walker. */
int rgi_join_serve(rgi_join *join);
/* Keeps of these requests those that may join, and refuses the others. *processes: how many
 * processes join. With the load board's lock held. */
int rgi_join_choose(rgi_join *join, int *processes);
/* The processes of all requests that are kept. */
int rgi_join_processes(const rgi_join *join);
/* Lists the members of the new group, n of them: first those of this one, then those that were
 * chosen; and sends the list to the leaders of the groups that join. answer: RGI_JOIN_... */
enum { RGI_JOIN_WORKING = 1, RGI_JOIN_IDLE };
int rgi_join_accept(rgi_join *join, int answer, int n, int ranks[]);
int rgi_join_refuse_all(rgi_join *join);
/* Drops the requests without an answer. */
void rgi_join_forget(rgi_join *join);
void rgi_join_close(rgi_join *join);

#endif
