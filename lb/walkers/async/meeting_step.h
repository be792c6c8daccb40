/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: walkers that meet. */
#ifndef RGI_ASYNC_MEETING_STEP_H
#define RGI_ASYNC_MEETING_STEP_H

#include <regroup/balance.h>

/* The walker of this group is set aside. All members call; the group has no walker afterwards.
 * *failed: it could not be packed, and has failed. */
int rgi_meeting_step_aside(rg_balancer balancer, int *failed);
/* Holds the meetings of this node that can take place, and lets the walkers wait for groups. */
int rgi_meeting_step_serve(rg_balancer balancer);
/* No walker of any node can go on: those that are set aside fail, or in a run that ends early end
 * as far as they have come. With the load board's lock held. */
int rgi_meeting_step_end(rg_balancer balancer);

#endif
