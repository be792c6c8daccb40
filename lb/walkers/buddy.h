/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The buddy: a process of another node that gets copies of this process's walkers while they run.
 */
#ifndef RGI_WALKERS_BUDDY_H
#define RGI_WALKERS_BUDDY_H

#include <regroup/balance.h>

int rgi_buddy_open(rg_balancer b);
void rgi_buddy_close(rg_balancer b);
/* A unit has made a walker: its record goes with the next copy of its parent. */
int rgi_buddy_add(rg_balancer b, uint64_t record);
/* A walker of this process has a new version: sends a copy, unless it is too early. */
int rgi_buddy_send(rg_balancer b, uint64_t record, int ended);
/* Takes in the copies and answers that have come, and answers the copies. */
int rgi_buddy_serve(rg_balancer b);
/* Whether a copy that was sent has not been answered. */
int rgi_buddy_waits(const struct rg_balancer_s *b);

#endif
