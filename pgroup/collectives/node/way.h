/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ways of an operation inside a node. The operations here do as they are told; what a way
 * needs, and for which lengths it is chosen, stands in the operation's table of algorithms. */
#ifndef RGI_WAY_H
#define RGI_WAY_H

typedef enum {
  RGI_WAY_CELLS,  /* pieces of RGI_SHM_TINY bytes, in the members' cells */
  RGI_WAY_CHUNKS, /* through the shared buffer, chunk by chunk */
  RGI_WAY_ONCE,   /* reduce, scan: in one step each member that gets a result combines all that it
                     needs; the others go on */
  RGI_WAY_LEVELS, /* along the levels of the node; scan: doubling the distance */
  RGI_WAY_DIRECT, /* from memory to memory */
  RGI_WAY_SPREAD  /* bcast: the same, where the members share the reading of the root's memory */
} rgi_way;

#endif
