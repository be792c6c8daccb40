/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * In a job that survives deaths (RG_SURVIVE): whether a member has died. */
#ifndef RGI_WALKERS_SURVIVAL_H
#define RGI_WALKERS_SURVIVAL_H

#include <regroup/balance.h>

#include "progress/wait.h"

/* Whether a member of the balancer's present group has died, or another member has noticed a death
 * and revoked the group. 0 in jobs that do not survive. */
int rgi_survival_failure(rg_balancer b);
/* The same, after a check of the processes that is made not too often. */
int rgi_survival_look(rg_balancer b);

/* Makes a wait end when there is such a failure. */
void rgi_survival_scope(rg_balancer b, rgi_wait *w);

/* The rank that a rank of the present group has in the balancer's first group. */
int rgi_survival_first_rank(const struct rg_balancer_s *b, int rank);

#endif
