/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker stores of all nodes, in a job that survives deaths. All processes call. */
#ifndef RGI_BALANCER_NODE_STORES_H
#define RGI_BALANCER_NODE_STORES_H

#include <regroup/balance.h>

/* Makes the list of the walkers that are to be worked on, the same on all processes: at the first
 * time from what they were given, afterwards from the stores. No process works meanwhile. */
int rgi_node_stores_lay_out(rg_balancer balancer);
/* After the first time: the stores have the states now, and the list's own are freed. Local. */
void rgi_node_stores_filled(rg_balancer balancer);
/* Brings all outcomes to the node of a rank, -1: to each node. */
int rgi_node_stores_gather(rg_balancer balancer, int rank);

#endif
