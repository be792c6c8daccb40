/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the ranks run on. All collective over comm, with the same result on all
 * its ranks. */
#ifndef MCMC_PLACEMENT_H
#define MCMC_PLACEMENT_H

#include <regroup.h>

/* These return errors of the collectives. Whether all ranks are on one node (and so read the same
 * clock). */
int mcmc_placement_one_node(rg_group g, int *one);

/* How many processors the ranks may use together, over all nodes. */
int mcmc_placement_processors(rg_group g, int *count);

#endif
