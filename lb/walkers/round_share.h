/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: walkers that one process has go to all, which call together. */
#ifndef RGI_WALKERS_ROUND_SHARE_H
#define RGI_WALKERS_ROUND_SHARE_H

#include <regroup/balance.h>

#include "walkers/queue.h"

/* Rank r has a walker, *e: then it is *e on all. Its memory belongs to the caller, also after an
 * error. */
int rgi_round_share_entry(rg_balancer b, int r, rgi_queue_entry *e);
/* Puts a walker of rank r on the lists of all. own: what r has of it, NULL elsewhere; its memory
 * moves. */
int rgi_round_share_walker(rg_balancer b, int r, rgi_queue_entry *own);

#endif
