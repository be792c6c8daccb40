/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreements: how the daemons of a group's nodes decide something together, once for
 * each round of the group, whoever is lost meanwhile.
 *
 * The nodes form a tree. What a node has to say goes up, together with what came from
 * below; the root decides, and the decision goes down the same ways. Processes do not
 * take part, so that their deaths disturb nothing. When the daemon of the root is lost,
 * the first that lives takes its place: before it decides it asks all others whether
 * they have heard a decision, and from then on they take none from a root that came
 * before; it tells its decision to all of them. Two messages between two nodes of the tree, at
 * most log2 as many at one; four between each and a root that has taken over. */
#ifndef RGI_AGREEMENT_H
#define RGI_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "shm/process_table.h"

enum { RGI_AGREEMENT_VOTED = 1, RGI_AGREEMENT_EMPTY = 2 }; /* nobody of the group lives there */

/* What a node has to say; also how daemons tell one another. Behind it: the nodes (int32
 * each, an index); their states (a byte each, padded to 4); ranks of the group that are
 * dead (int32 each). */
typedef struct {
  uint64_t group; /* its context */
  uint32_t round;
  uint32_t all; /* every node must speak; else the first one's dead are the decision */
  uint32_t word, failed;
  int32_t nodes, dead;
  int32_t ballot, accepted;    /* between daemons: which root; whose decision this is, or -1 */
  uint64_t round_at, flags_at; /* in the arena: who waits for it, and a byte for each rank */
} rgi_agreement_proposal;

/* How a round in the arena begins. */
typedef struct {
  _Atomic uint32_t state; /* RGI_AGREEMENT_DECIDED: what follows is the decision */
  uint32_t word, deaths;
} rgi_agreement_round;
#define RGI_AGREEMENT_DECIDED 1

/* dead: -1 where none are listed. */
static inline size_t rgi_agreement_bytes(int nodes, int dead) {
  size_t listed = dead < 0 ? 0 : (size_t)dead;
  return sizeof(rgi_agreement_proposal) + 4 * (size_t)nodes + ((size_t)nodes + 3) / 4 * 4 +
         4 * listed;
}

static inline int32_t *rgi_agreement_nodes(rgi_agreement_proposal *m) {
  return (int32_t *)(m + 1);
}

static inline unsigned char *rgi_agreement_states(rgi_agreement_proposal *m) {
  return (unsigned char *)(rgi_agreement_nodes(m) + m->nodes);
}

static inline int32_t *rgi_agreement_dead(rgi_agreement_proposal *m) {
  return (int32_t *)(rgi_agreement_states(m) + ((size_t)m->nodes + 3) / 4 * 4);
}

/* node: the index of this one; lost: a byte for each node, which the caller sets when a node is
 * lost, before rgi_agreement_node_lost; table: whose processes wait for verdicts. The last two
 * stay. */
void rgi_agreement_open(int node, const unsigned char lost[], const rgi_process_table *table);

/* A process of this node asks: an rgi_agreement_proposal in the arena, which is given back. */
void rgi_agreement_propose(uint64_t proposal);

void rgi_agreement_receive(int from, uint32_t kind, const void *data, size_t bytes);

/* A node has been lost. */
void rgi_agreement_node_lost(void);
void rgi_agreement_close(void);

#endif
