/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The group that the process works in. All members of the new group call. */
#ifndef RGI_WALKERS_WALKER_TEAM_H
#define RGI_WALKERS_WALKER_TEAM_H

#include <regroup/balance.h>
#include <regroup/timeline.h>

#include "walkers/balancer_state.h"

/* Forms the group of these ranks (copied); the old one is freed. */
int rgi_walker_team_form(rg_balancer b, int n, const int ranks[]);
/* Forms the first group of the process. */
int rgi_walker_team_first(rg_balancer b);
/* Forms a group of `n` members of the present one, from position `first` on. */
int rgi_walker_team_part(rg_balancer b, int first, int n);
/* After an error: forms the application's group anew if it was revoked. */
int rgi_walker_team_renew(rg_balancer b);
void rgi_walker_team_free(rgi_balancer_team *t);

/* Notes in the timeline what this process does from now on. */
void rgi_walker_team_mark(rg_balancer b, rg_span_kind kind);

#endif
