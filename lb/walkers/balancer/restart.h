/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Balancing in a job that survives deaths (RG_SURVIVE). When a member of the balancer's group has
 * died, every member gives up what is under way: requests, groups that are being formed, units that
 * cannot end. When all living members have done so, they shrink the group. The nodes find out which
 * walkers have not ended, bring the newest version of each to where it begins again, and begin with
 * these as at the start. Nothing of the old groups is needed, so a death is treated alike whatever
 * it interrupts. */
#ifndef RGI_BALANCER_RESTART_H
#define RGI_BALANCER_RESTART_H

#include <regroup/balance.h>

#include "walkers/team/outcome_list.h"

int rgi_restart_begin(rg_balancer balancer);
int rgi_restart_recover(rg_balancer balancer);
/* As rg_balance_end. *done: all processes have ended; otherwise balancing goes on. */
int rgi_restart_end(rg_balancer balancer, int *done);
/* After the end: the outcomes of all, for the root (outcome.h), which has a list for them; `all` of
 * the others is NULL. RG_ERR_PROC_FAILED: the root has died, or outcomes were lost with several
 * nodes. All errors are the same on all processes. */
int rgi_restart_gather(rg_balancer balancer, int root, rgi_outcome_list *all);

#endif
