/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What share-out and release have in common. */
#ifndef RGI_POLICIES_FREE_RANKS_H
#define RGI_POLICIES_FREE_RANKS_H

#include <regroup/policy.h>

/* Adds the moves of share-out. cost: seconds of forming a group; negative: as the table says. An
 * active row gives back the processes without which its unit took at most (1 + gain) times as long,
 * as measured at a smaller size: with a negative gain only those without which it was faster. */
int rgi_free_ranks_plan(const rg_load_table *table, double cost, double gain, rg_plan *plan);

#endif
