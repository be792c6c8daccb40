/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The nodes of the world: finds which processes share one, opens the node's arena, table of
 * processes and daemon, and fills in rgi_node (shm/node.h). */
#ifndef RGI_CLUSTER_H
#define RGI_CLUSTER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Collective over the world. extra: bytes, zeroed, in the arena, which rgi_cluster_extra returns.
 * The same error on all processes of a node. */
int rgi_cluster_open(MPI_Comm world, size_t extra);
void rgi_cluster_close(void);
void *rgi_cluster_extra(void);

/* In the heap of its node's arena (arena.h) each process has words, zeroed at first, which other
 * nodes' processes reach by the node's server. Those of a node's processes lie side by side, in the
 * order of their ranks. Where they begin, on a node with n processes: */
#define RGI_CLUSTER_WORDS_BYTES 16
uint64_t rgi_cluster_words(int n);

#endif
