/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The group that the process works in. All members of the new group call. */
#ifndef RGI_TEAM_TEAM_H
#define RGI_TEAM_TEAM_H

#include <regroup/timeline.h>

#include "walkers/team/membership.h"

typedef struct {
  const rgi_membership *members;
  rg_timeline timeline; /* or NULL */
  int part;             /* of the timeline */
  int64_t formed;       /* teams of which the process was a member so far */
  int first_size;       /* of teams at first */
  rg_group group, own;  /* the application's; the library's, of the same members */
  int *ranks;           /* of the members, the leader's first */
  int n, me;
  int node;             /* of all members, from 1; 0: of several */
  int lowest, together; /* the lowest rank at first; whether the ranks are consecutive */
} rgi_team;

/* Whether this process is the leader of its team. */
static inline int rgi_team_leads(const rgi_team *team) {
  return team->me == 0;
}

/* Forms the group of these ranks (copied); the old one is freed. */
int rgi_team_form(rgi_team *team, int n, const int ranks[]);
/* At first there are groups of first_size consecutive ranks, the last one of what is left. Forms
 * that of the process: of the first `head` ranks, or of the others. The number of this group, and
 * of all; the number of processes of a group. */
int rgi_team_first(rgi_team *team, int head);
int rgi_team_first_of(const rgi_team *team, int number);
int rgi_team_first_number(const rgi_team *team);
int rgi_team_first_count(const rgi_team *team);
/* Forms a group of `n` members of the present one, from position `first` on. */
int rgi_team_part(rgi_team *team, int first, int n);
/* After an error: forms the application's group anew, which may have been revoked. */
int rgi_team_renew(rgi_team *team);
void rgi_team_free(rgi_team *team);

/* Notes in the timeline what this process does from now on: of work, on which walker. */
void rgi_team_mark(const rgi_team *team, rg_span_kind kind);
void rgi_team_mark_work(const rgi_team *team, int64_t walker);

#endif
