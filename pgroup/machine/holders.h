/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice of holders: for each member another one, on another node and, if there are several
 * failure domains, in another domain. Nodes that fail together are in one domain. */
#ifndef RGI_HOLDERS_H
#define RGI_HOLDERS_H

#include <stdint.h>

/* node: of each member, numbers from 0 to nodes - 1, of which any may occur; domain: of each
 * member, equal on a node. The members of a node are held by those of one node of the next domain
 * (of the next node, if there is one domain only), in the order of the lowest ranks, so that all
 * hold about as much. O(members + nodes log nodes). RG_ERR_NOMEM. */
int rgi_holders_choose(int members, const int node[], int nodes, const uint64_t domain[],
                       int holders[]);

#endif
