/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the ranks run on. All functions are collective over the group, with the same result on all
 * members, and return errors of the collectives. */
#ifndef MCMC_PLACEMENT_H
#define MCMC_PLACEMENT_H

#include <regroup.h>

/* Whether all ranks are on one node, and so read the same clock. */
int mcmc_placement_one_node(rg_group g, int *one);

/* How many processors the ranks may use together, over all nodes. */
int mcmc_placement_processors(rg_group g, int *count);

#endif
