/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error with which a run ends, and what the processes agree on before they gather outcomes. */
#ifndef RGI_WORK_OUTCOME_H
#define RGI_WORK_OUTCOME_H

#include "walkers/board/planner.h"
#include "walkers/team/membership.h"
#include "walkers/team/outcome_list.h"

/* The error of rg_balance_end, from the outcomes that each process has of this run. All members
 * call. */
int rgi_outcome_report(const rgi_membership *members, const rgi_outcome_list *list, int run,
                       const rgi_planner *planner);

/* The root of a gather, a rank in the first group; or all processes; or none. */
enum { RGI_OUTCOME_ALL = -1, RGI_OUTCOME_NO_ROOT = -2 };
int rgi_outcome_is_root(const rgi_membership *members, int root);
/* All members call. error: the caller's own. An error of a member, or a root that is none or not
 * the same on all, is an error on all. */
int rgi_outcome_agree_root(const rgi_membership *members, int root, int error);

#endif
