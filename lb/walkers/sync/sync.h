/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: all processes regroup together, after every i units. */
#ifndef RGI_SYNC_SYNC_H
#define RGI_SYNC_SYNC_H

#include <regroup/balance.h>

#include "walkers/team/queue.h"

int rgi_sync_begin(rg_balancer balancer);
int rgi_sync_step(rg_balancer balancer, int wait, int *what);

/* --- walkers that one process has go to all, which call together -------------------------- */

/* Rank r has a walker, *entry: then it is *entry on all. Its memory belongs to the caller, also
 * after an error. */
int rgi_sync_share_entry(rg_balancer balancer, int r, rgi_queue_entry *entry);
/* Puts a walker of rank r on the lists of all. own: what r has of it, NULL elsewhere; its memory
 * moves. */
int rgi_sync_share_walker(rg_balancer balancer, int r, rgi_queue_entry *own);

/* --- walkers that meet -------------------------------------------------------------------- */

/* The walker of this group is set aside. All members call; the group has no walker afterwards. */
int rgi_sync_set_aside(rg_balancer balancer);
/* At the end of a round: tells all processes of the walkers that were set aside, and holds the
 * meetings that can take place; the walkers wait then. All processes call. */
int rgi_sync_meet(rg_balancer balancer);
/* No walker can go on: those that are set aside fail, or in a run that ends early end as far as
 * they have come. All processes call. */
int rgi_sync_end_asides(rg_balancer balancer);

#endif
