/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The hierarchical forms of gatherv, scatterv and allgatherv: blocks of different
 * sizes, each crossing once to each node that needs it.
 *
 * For gatherv and scatterv only the root knows all sizes. Short blocks of a node go
 * in one message between the root and the node leader, with a list of all sizes
 * before them; the leader gets the sizes of its node's members from them, or tells
 * them. A long block goes straight between the root and its owner: the network is
 * used as well by it, and a copy is saved. Who waits for a message knows from the
 * list that there is one, so that sizes that do not agree are an error and no hang. */
#ifndef RGI_HIER_UNEVEN_H
#define RGI_HIER_UNEVEN_H

#include "collectives/algorithm.h"

rgi_algorithm_builder rgi_hier_uneven_gatherv, rgi_hier_uneven_scatterv, rgi_hier_uneven_allgatherv;

#endif
