/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The memory nodes of a node with several of them: finds that of each process (rgi_node.memory),
 * and lets the arena bind pages to them. A memory node has hwloc's logical index. */
#ifndef RGI_NODE_MEMORY_H
#define RGI_NODE_MEMORY_H

#include <mpi.h>

#include "shm/placement.h"

/* Collective over the processes of the node, before the arena is made. */
int rgi_node_memory_find(MPI_Comm node);
void rgi_node_memory_forget(void);

/* One line: where shared objects lie on this node. */
enum { RGI_NODE_MEMORY_TEXT = 160 };
void rgi_node_memory_describe(char text[RGI_NODE_MEMORY_TEXT]);

/* The inboxes, as they begin the arena's roots; NULL: there is nothing to bind. */
const rgi_placement *rgi_node_memory_inboxes(void);

#endif
