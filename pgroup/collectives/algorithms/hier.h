/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The pieces of the hierarchical algorithms: what the members of a node do before and after
 * the node leaders exchange. Blocking calls use shared memory inside a node, the others
 * messages. */
#ifndef RGI_HIER_H
#define RGI_HIER_H

#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/coll_state.h"

/* The node leaders: the lowest ranks, but for root's node root itself (-1:
 * the lowest ranks only), so that nothing has to be handed on there. */
rgi_subgroup rgi_hier_leaders(rgi_sched *sched, int root);

/* The place of my node's leader among the members on it. */
int rgi_hier_leader_local_rank(const rgi_sched *sched, const rgi_subgroup *leaders);

/* The operations of which the hierarchical form of an operation consists: between the nodes, and
 * first inside a node. */
rg_operation rgi_hier_op_between(rg_operation op);
rg_operation rgi_hier_op_inside(rg_operation op);

/* Here and below op is the operation as a whole, for which the user may ask for algorithms. */
void rgi_hier_between(rgi_sched *sched, rg_operation op, const rgi_subgroup *leaders,
                      const rgi_algorithm_args *args);

/* Inside a node the root is given by its place among the members there. */
void rgi_hier_node_barrier(rgi_sched *sched, rg_operation op);
void rgi_hier_node_bcast(rgi_sched *sched, rg_operation op, void *data, size_t bytes, int place);

/* Of args: in, out, bytes, root. */
void rgi_hier_node_reduce(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args);
/* Equal blocks of so many bytes, in the order of the members on the node. */
void rgi_hier_node_gather(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args);
void rgi_hier_node_scatter(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args);

/* How many members a node has; its i-th one's rank in the group. */
int rgi_hier_node_size(const rgi_sched *sched, int node);
int rgi_hier_node_member(const rgi_sched *sched, int node, int i);

/* Arrays with what each node holds, one after another: bytes[nodes]. */
rgi_blocks rgi_hier_node_blocks(rgi_sched *sched, size_t each_member);

#endif
