/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Proposals and rounds of agreements, as ranks and node daemons share them in the arena. A rank
 * writes a proposal, sends its offset to its node's daemon (RGI_FACT_PROPOSAL), and waits for the
 * round to be decided. */
#ifndef RGI_AGREEMENT_PROPOSAL_H
#define RGI_AGREEMENT_PROPOSAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* States of a node: its members have voted; no member of the group lives there. */
enum { RGI_AGREEMENT_VOTED = 1, RGI_AGREEMENT_EMPTY = 2 };

/* What a node's members propose; also a daemon's message about it. Behind it: the group's nodes
 * (an index each, int32); their states (a byte each, padded to 4); ranks of the group that are dead
 * (int32 each). */
typedef struct {
  uint64_t group; /* its context */
  uint32_t round;
  uint32_t all;                /* 1: every node must vote; 0: the first list of dead decides */
  uint32_t word, failed;       /* combined by "and"; by "or" */
  int32_t nodes, dead;         /* lengths of the lists; dead: -1 where there is none */
  int32_t members, unused;     /* of the group */
  int32_t ballot, accepted;    /* between daemons: which root; whose decision this is, or -1 */
  uint64_t round_at, flags_at; /* in the arena: an rgi_agreement_round; a byte for each rank */
} rgi_agreement_proposal;

/* The head of a round. Its members wait for state; the flags of the dead are set before. */
typedef struct {
  _Atomic uint32_t state; /* RGI_AGREEMENT_DECIDED: the rest is the decision */
  uint32_t word, deaths;  /* deaths: whether any is known */
} rgi_agreement_round;
#define RGI_AGREEMENT_DECIDED 1

/* Bytes of a proposal with its lists. dead: -1 where there is no list. */
static inline size_t rgi_agreement_bytes(int nodes, int dead) {
  size_t listed = dead < 0 ? 0 : (size_t)dead;
  return sizeof(rgi_agreement_proposal) + 4 * (size_t)nodes + ((size_t)nodes + 3) / 4 * 4 +
         4 * listed;
}

static inline int32_t *rgi_agreement_nodes(rgi_agreement_proposal *proposal) {
  return (int32_t *)(proposal + 1);
}

static inline unsigned char *rgi_agreement_states(rgi_agreement_proposal *proposal) {
  return (unsigned char *)(rgi_agreement_nodes(proposal) + proposal->nodes);
}

static inline int32_t *rgi_agreement_dead(rgi_agreement_proposal *proposal) {
  return (int32_t *)(rgi_agreement_states(proposal) + ((size_t)proposal->nodes + 3) / 4 * 4);
}

#endif
