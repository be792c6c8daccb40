/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreements: the daemons of a group's nodes decide something together, once for each round of the
 * group, whichever nodes are lost meanwhile. Ranks take no part once they have made their
 * proposals, so their deaths disturb nothing. Runs in guards.
 *
 * Messages: two between two nodes of a binary tree; four between each node and a root that has
 * taken over. Where every node must vote as many short ones follow, behind which nothing waits: two
 * between two nodes of the tree, or between each node and the new root. They say that all have the
 * decision: then it is forgotten, so that a root that takes over speaks only of what is not at its
 * end. Decisions on the first list of dead are kept until a later one of the same group in which
 * every node votes is forgotten. Memory: what is not at its end, and 24 KiB. */
#ifndef RGI_AGREEMENT_H
#define RGI_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "noded/consensus/agreement_proposal.h"
#include "shm/process_table.h"

/* nodes: of the job. node: the index of this one. lost: a byte for each node, which the caller sets
 * when a node is lost, before rgi_agreement_node_lost. table: of the processes that wait for
 * decisions. The caller keeps lost and table. */
void rgi_agreement_open(int nodes, int node, const unsigned char lost[],
                        const rgi_process_table *table);

/* A rank of this node proposes: the offset of an rgi_agreement_proposal, which is freed. */
void rgi_agreement_propose(uint64_t proposal);

/* A message from another daemon. */
void rgi_agreement_receive(int from, uint32_t kind, const void *data, size_t bytes);

/* A node has been lost. */
void rgi_agreement_node_lost(void);
void rgi_agreement_close(void);

#endif
