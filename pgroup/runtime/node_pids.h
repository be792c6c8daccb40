/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finds whether the node's processes may read each other's memory (rgi_node.pids). */
#ifndef RGI_NODE_PIDS_H
#define RGI_NODE_PIDS_H

#include <mpi.h>

/* Collective over the processes of the node. */
int rgi_node_pids_find(MPI_Comm node);
void rgi_node_pids_forget(void);

#endif
