/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How many processors the processes of a node may use together. */
#ifndef RGI_NODE_PROCESSORS_H
#define RGI_NODE_PROCESSORS_H

#include <mpi.h>

#include "base/cgroup.h"

/* Fills in rgi_node.processors and rgi_node.oversubscribed, the same on all processes of the node.
 * After the other facts of rgi_node. Collective over node. RG_ERR_NOMEM; RG_ERR_MPI. */
int rgi_node_processors_find(MPI_Comm node);

/* What is left of so many processors by the limits of n processes, in quota, which this sorts. */
int rgi_node_processors_limit(int processors, rgi_cgroup_quota *quota, int n);

#endif
