/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: what a group without a walker has found to do. */
#ifndef RGI_STATE_SEARCH_H
#define RGI_STATE_SEARCH_H

#include <regroup/request.h>

#include "walkers/team/queue.h"

/* What an idle group, or a part of it, is to do. */
typedef struct {
  int64_t ranks;
  int64_t target; /* the leader whose group it joins, or -1 */
  int64_t stamp;  /* of that group's walker */
  int64_t starts; /* whether it starts this walker */
  int64_t credit; /* that comes with the walker from another node, or -1 */
  rgi_queue_entry entry;
} rgi_search_part;

typedef struct {
  rgi_search_part part;   /* what the group is to do next */
  rgi_search_part *parts; /* what its leader sends to parts of it */
  int asked;              /* the leader that was asked and has not answered, or -1 */
  int64_t seen;           /* version of the load board that the policy was last asked about */
  int pending;            /* the broadcast of the next command is under way */
  int n;                  /* members of the group to join */
  int *ranks;
  rg_request request;
  int64_t command[2];
  double since; /* when the group became idle, or last had something to do */
} rgi_search;

/* The group has become idle. */
void rgi_search_begin(rgi_search *search);
/* Drops what was found, and waits for the end of the broadcast. */
void rgi_search_forget(rgi_search *search);

#endif
