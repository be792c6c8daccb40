/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finding out which processes of the world share a node, and making what they share: fills in
 * rgi_node (shm/node.h). */
#ifndef RGI_CLUSTER_H
#define RGI_CLUSTER_H

#include <mpi.h>
#include <stddef.h>

/* Collective over the world. extra: bytes, zeroed, in the arena (rgi_cluster_extra). The same error
 * on all processes of a node. */
int rgi_cluster_open(MPI_Comm world, size_t extra);
void rgi_cluster_close(void);
void *rgi_cluster_extra(void);

#endif
