/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The outcomes of all processes, on one of them or on all. */
#ifndef RGI_WALKERS_OUTCOME_GATHER_H
#define RGI_WALKERS_OUTCOME_GATHER_H

#include <regroup/balance.h>

/* rg_balance_outcomes returns this process's own again. */
void rgi_outcome_gather_forget(rg_balancer b);

#endif
