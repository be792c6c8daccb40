/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * In a job that survives deaths (RG_SURVIVE): whether somebody has died. */
#ifndef RGI_WALKERS_SURVIVAL_H
#define RGI_WALKERS_SURVIVAL_H

#include <regroup/balance.h>

#include "progress/wait.h"

/* Whether somebody has died whom the balancing has not left behind, or somebody else has
 * noticed that. 0 in jobs that do not survive. */
int rgi_survival_failure(rg_balancer b);
/* The same after a look, not too often. */
int rgi_survival_look(rg_balancer b);

/* A wait of the balancer's ends when there is such a failure. */
void rgi_survival_scope(rg_balancer b, rgi_wait *w);

/* The rank in the balancer's first group. */
int rgi_survival_first_rank(const struct rg_balancer_s *b, int rank);

#endif
