/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The pieces of the hierarchical algorithms: what is done inside each node,
 * before and after one member of each speaks with the others. Blocking calls use
 * shared memory inside, the others messages. */
#ifndef RGI_HIERARCHY_H
#define RGI_HIERARCHY_H

#include "collectives/algorithm.h"
#include "collectives/state.h"

/* Who speaks for the nodes: the leaders, but for root's node root itself (-1:
 * the leaders only), so that nothing has to be handed on there. */
rgi_team rgi_speakers(rgi_schedule *s, int root);

/* The place of my node's speaker among the members on it. */
int rgi_speaker_place(const rgi_schedule *s, const rgi_team *speakers);

/* op: the operation as a whole, which tells what algorithms are asked for. */
void rgi_between(rgi_schedule *s, rg_operation op, const rgi_team *speakers, const rgi_problem *p);

void rgi_node_barrier(rgi_schedule *s, rg_operation op);
void rgi_node_bcast(rgi_schedule *s, rg_operation op, void *data, size_t bytes, int place);
void rgi_node_reduce(rgi_schedule *s, rg_operation op, const void *in, void *out, size_t bytes,
                     int place);
/* Equal blocks, in the order of the members on the node. */
void rgi_node_gather(rgi_schedule *s, rg_operation op, const void *in, size_t bytes, void *out,
                     int place);
void rgi_node_scatter(rgi_schedule *s, rg_operation op, const void *in, size_t bytes, void *out,
                      int place);

/* How many members a node has; its i-th one's rank in the group. */
int rgi_node_members(const rgi_schedule *s, int node);
int rgi_node_member(const rgi_schedule *s, int node, int i);

/* Arrays with what each node holds, one after another: bytes[nodes]. */
rgi_blocks rgi_node_blocks(rgi_schedule *s, size_t each_member);

#endif
