/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error with which a run ends. */
#ifndef RGI_WALKERS_OUTCOME_H
#define RGI_WALKERS_OUTCOME_H

#include "walkers/membership.h"
#include "walkers/outcome_list.h"
#include "walkers/planner.h"

/* The error of rg_balance_end, from the outcomes that each process has. All members call. */
int rgi_outcome_report(const rgi_membership *m, const rgi_outcome_list *list, const rgi_planner *p);

#endif
