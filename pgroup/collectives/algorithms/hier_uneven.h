/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The hierarchical forms of gatherv, scatterv and allgatherv: blocks of different
 * sizes, each crossing once to each node that needs it.
 *
 * For gatherv and scatterv only the root knows all sizes. The short blocks of a node go in one
 * message between the root and the node leader, behind a list of all sizes; the leader gets
 * the sizes from its node's members (gatherv) or passes them on (scatterv). A long block goes
 * directly between the root and its owner: that uses the network as well and saves a copy. A
 * receiver knows from the list that a message comes, so that sizes that do not agree are an
 * error and no hang. */
#ifndef RGI_HIER_UNEVEN_H
#define RGI_HIER_UNEVEN_H

#include "collectives/schedule/algorithm.h"

rgi_algorithm_builder rgi_hier_uneven_gatherv, rgi_hier_uneven_scatterv, rgi_hier_uneven_allgatherv;

#endif
