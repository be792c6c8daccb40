/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Balancing in a job that survives deaths (RG_SURVIVE). When somebody of the balancer's group has
 * died, everybody gives up what is under way (requests, groups that are being formed, units that
 * cannot end); when all living have done so they shrink the group, tell the other nodes what the
 * own one's vault has, read there which walkers have not ended, and begin with these as at the
 * start.
 * Nothing of the old groups is needed: so a death is the same whatever it interrupts. */
#ifndef RGI_WALKERS_SURVIVE_H
#define RGI_WALKERS_SURVIVE_H

#include "progress/wait.h"
#include "walkers/balancer.h"

/* Whether somebody has died whom the balancing has not left behind, or somebody else has
 * noticed that. 0 in jobs that do not survive. */
int rgi_survive_trouble(rg_balancer b);
/* The same after a look, not too often. */
int rgi_survive_look(rg_balancer b);

/* A wait of the balancer's ends when there is trouble. */
void rgi_survive_scope(rg_balancer b, rgi_wait *w);

int rgi_survive_begin(rg_balancer b);
int rgi_survive_recover(rg_balancer b);
/* As rg_balance_end; *done: all are through. Otherwise balancing goes on. */
int rgi_survive_end(rg_balancer b, int *done);

/* Gives up what is under way, and forgets the board. */
void rgi_survive_forget(rg_balancer b);

/* The rank in the balancer's first group. */
int rgi_survive_first(const struct rg_balancer_s *b, int rank);

#endif
