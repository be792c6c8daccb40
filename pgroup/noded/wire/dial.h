/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Connecting with a node's daemon: a connection is made when the daemon has proved who it is
 * (greeting.h). A node may have several addresses, and another program may listen at one
 * that many machines have: so the addresses are tried one after another, around, until the caller
 * gives up. Nothing here blocks. */
#ifndef RGI_DIAL_H
#define RGI_DIAL_H

#include "noded/wire/greeting.h"

/* The time that one address has for its answer. */
#define RGI_DIAL_ANSWER_SECONDS 3.0

typedef struct {
  const rgi_overlay_node *node;
  const unsigned char *key; /* the job's */
  int from, to;             /* as for rgi_greeting_call; to: the node */
  double limit;             /* of the connection: rgi_tcp_limit */
  double answer;            /* seconds that an address has; 0: RGI_DIAL_ANSWER_SECONDS */
  double tried;             /* when the last address was; 0: none yet */
  int next, address;        /* the next one to try; the one being tried */
  int proven;               /* an address that has answered before, plus 1; 0: none */
  int refused;              /* no process listens there any more; the caller clears it */
  int greets;               /* it is connected, and the greeting has begun */
  rgi_greeting greeting;
} rgi_dial;

/* Does what is possible now; *tcp is the connection. 1: it is made; 0: not yet: the caller calls
 * again when tcp->fd, if it is not -1, has what rgi_dial_awaits says, and from time to time. */
int rgi_dial_step(rgi_dial *dial, rgi_tcp *tcp);

/* POLLIN or POLLOUT. */
short rgi_dial_awaits(const rgi_dial *dial);

#endif
