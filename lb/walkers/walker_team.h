/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The group that the process is in. All members of the new one call. */
#ifndef RGI_WALKERS_WALKER_TEAM_H
#define RGI_WALKERS_WALKER_TEAM_H

#include <regroup/balance.h>
#include <regroup/timeline.h>

typedef struct {
  rg_group group, own; /* the application's, and the library's with the same members */
  int *ranks;          /* of the members, the leader's first */
  int n, me;
  int lowest, together; /* the lowest rank; whether they are consecutive */
} rgi_walker_team;

/* Becomes the group of these ranks (copied). */
int rgi_walker_team_form(rg_balancer b, int n, const int ranks[]);
/* The group that the process is in at first. */
int rgi_walker_team_first(rg_balancer b);
/* The part of the present group from position `first` on, `n` of them. */
int rgi_walker_team_part(rg_balancer b, int first, int n);
/* After an error: the application's group, if it was revoked, is formed anew. */
int rgi_walker_team_renew(rg_balancer b);
void rgi_walker_team_free(rgi_walker_team *t);

/* In the timeline: what this process does from now on. */
void rgi_walker_team_mark(rg_balancer b, rg_span_kind kind);

#endif
