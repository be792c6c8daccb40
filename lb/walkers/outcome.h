/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How the walkers have ended that this process reports. */
#ifndef RGI_WALKERS_OUTCOME_H
#define RGI_WALKERS_OUTCOME_H

#include <regroup/balance.h>

/* Adds an outcome (copied). */
int rgi_outcome_add(rg_balancer b, const rg_balance_outcome *o);
/* The error of rg_balance_end. Collective over the balancer's group. */
int rgi_outcome_report(rg_balancer b);

#endif
