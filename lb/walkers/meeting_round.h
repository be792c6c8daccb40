/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: walkers that meet. */
#ifndef RGI_WALKERS_MEETING_ROUND_H
#define RGI_WALKERS_MEETING_ROUND_H

#include <regroup/balance.h>

/* The walker of this group is set aside. All members call; the group has no walker afterwards. */
int rgi_meeting_round_aside(rg_balancer b);
/* At the end of a round: tells all processes of the walkers that were set aside, and holds the
 * meetings that can take place; the walkers wait then. All processes call. */
int rgi_meeting_round_share(rg_balancer b);
/* No walker can go on: those that are set aside fail, or in a run that ends early end as far as
 * they have come. All processes call. */
int rgi_meeting_round_end(rg_balancer b);

#endif
