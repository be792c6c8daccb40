/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Presence: which nodes are part of the job. At first all are; a decision takes some away for good.
 * Decisions are numbered, and made by the node daemons together, so that there is one sequence of
 * them: no two nodes that go on differ in a decision, and a node that is taken away, or cannot take
 * part in decisions, does not go on. Runs in guards.
 *
 * Evidence. A node is taken away only if it is
 *   gone    its host lives and refuses a node a connection to its daemon's port, although the
 * daemon has heard that node until a moment ago; and no node has a connection with it; silent
 * nothing has come from it for RG_NODE_TIMEOUT, neither straight nor by way of others, it does not
 * answer the question about this decision, and nobody has a connection with it; or one side of a
 * path that is cut, and that MPI needs.
 *
 * Quorum. A decision needs the votes of all present nodes that are not gone; or of more than half
 * of the present nodes; or of half of them with the witness (RG_WITNESS), or without RG_WITNESS
 * with the lowest node. A part that has no quorum for RG_NODE_TIMEOUT longer ends.
 *
 * Source: Lamport, "The part-time parliament" (1998): one ballot protocol for each number. Indirect
 * questions: Das, Gupta, Motivala, "SWIM" (2002).
 *
 * Cost of a decision: four messages between the coordinator and each present node, and the facts to
 * all (daemon.h). Without evidence: none. */
#ifndef RGI_PRESENCE_H
#define RGI_PRESENCE_H

#include <stddef.h>

#include "noded/wire/overlay.h"

/* Kinds of messages on the channels from here on, five of them. */
#define RGI_PRESENCE_MESSAGES 16u

typedef struct {
  /* Decision `number`: the set, a byte for each node, is taken away. */
  void (*decided)(uint32_t number, const unsigned char set[]);
  void (*ended)(const char *why); /* this node is in a part without a quorum */
} rgi_presence_events;

/* lost: a byte for each node, which the caller sets when it learns that the node is lost. The
 * caller keeps both. 0: no memory. */
int rgi_presence_open(const rgi_overlay *overlay, const unsigned char lost[],
                      const rgi_presence_events *events);
void rgi_presence_close(void);

/* A connection with the node has been refused. */
void rgi_presence_refused(int node);

/* A message of a channel, of one of the kinds. */
void rgi_presence_receive(int from, uint32_t kind, const void *data, size_t bytes);

/* So many decisions have been made, as a fact tells. */
void rgi_presence_learn(uint32_t decisions);

/* Looks at the evidence, and does what the time asks for. waits: how long a rank of this node has
 * been waiting without progress. */
void rgi_presence_step(double waits);
double rgi_presence_timeout(void);

/* Whether a present node is not heard. */
int rgi_presence_is_disturbed(void);

#endif
