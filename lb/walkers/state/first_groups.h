/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Before beginning: the groups at first, and the order of walkers. */
#ifndef RGI_STATE_FIRST_GROUPS_H
#define RGI_STATE_FIRST_GROUPS_H

#include <regroup/balance.h>

/* Checks that all processes have the same walkers and options. Collective over the balancer's
 * group. */
int rgi_first_agree(rg_balancer balancer);
/* From the second run on: all processes get the paces that were measured and the numbers of the
 * last meetings, and the walkers of the list have them. Collective over the balancer's group. */
int rgi_first_share_paces(rg_balancer balancer);
/* Sets the size of the groups and sorts the walkers that wait, the longest first. Local. */
int rgi_first_make(rg_balancer balancer);
/* How many walkers start at first, walker j on group j. */
int rgi_first_starting(const struct rg_balancer_s *balancer);
/* How many processes of a group at first start its walker: the others form an idle group. All, if
 * it has none. */
int rgi_first_head(const struct rg_balancer_s *balancer, int group);
/* Whether this process is among those that start one. */
int rgi_first_starts(const struct rg_balancer_s *balancer);

#endif
