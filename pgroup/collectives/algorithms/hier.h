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

/* The hierarchical forms of gatherv, scatterv and allgatherv: blocks of different
 * sizes, each crossing once to each node that needs it.
 *
 * For gatherv and scatterv only the root knows all sizes. The short blocks of a node go in one
 * message between the root and the node leader, behind a list of all sizes; the leader gets
 * the sizes from its node's members (gatherv) or passes them on (scatterv). A long block goes
 * directly between the root and its owner: that uses the network as well and saves a copy. A
 * receiver knows from the list that a message comes, so that sizes that do not agree are an
 * error and no hang. */
rgi_algorithm_builder rgi_hier_uneven_gatherv, rgi_hier_uneven_scatterv, rgi_hier_uneven_allgatherv;

#endif
