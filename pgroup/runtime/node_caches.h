/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finds in which socket and on which L3 cache each process of the node runs (rgi_node.caches). */
#ifndef RGI_NODE_CACHES_H
#define RGI_NODE_CACHES_H

#include <mpi.h>

/* Collective over the processes of the node. Finds nothing where processes share processors, and
 * among so few processes that the levels do not matter. */
int rgi_node_caches_find(MPI_Comm node);
void rgi_node_caches_forget(void);

#endif
