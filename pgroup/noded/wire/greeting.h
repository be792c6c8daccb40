/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The greeting, which comes first on each TCP connection with a node daemon: each side proves that
 * it knows the job's key, and which node it is. Three messages; the key itself is never sent:
 *
 *     caller -> daemon  who calls whom, and the caller's nonce
 *     daemon -> caller  the daemon's nonce, and a MAC by the daemon
 *     caller -> daemon  a MAC by the caller
 *
 * Each MAC is of a text with the role of its sender, both nodes and both nonces, under the job's
 * key. So an old connection cannot be replayed, nor a message be sent back to its sender. Data that
 * follow are neither encrypted nor under a MAC. */
#ifndef RGI_GREETING_H
#define RGI_GREETING_H

#include "noded/wire/overlay.h"
#include "noded/wire/tcp.h"

#define RGI_GREETING_NONCE_BYTES 32

typedef struct {
  const unsigned char *key; /* RGI_OVERLAY_KEY_BYTES; the caller keeps it */
  int32_t from, to; /* the node that calls, RGI_OVERLAY_CLIENT or GUARD; the node that is called */
  int32_t nodes;    /* of the daemon's side: how many there are */
  int stage;
  unsigned char caller_nonce[RGI_GREETING_NONCE_BYTES], daemon_nonce[RGI_GREETING_NONCE_BYTES];
} rgi_greeting;

/* Begins the greeting of the side that has made the connection. */
void rgi_greeting_call(rgi_greeting *greeting, const unsigned char key[], int from, int to);

/* Begins the greeting of the side that has accepted it: node `mine` of so many. */
void rgi_greeting_answer(rgi_greeting *greeting, const unsigned char key[], int mine, int nodes);

/* Does what is possible now, when the connection is readable; the caller's side also at first. 1:
 * done: the other side has proved itself, and greeting->from and greeting->to are true; 0: not
 * yet; -1: the connection is broken, or the other side is a stranger. What is queued on tcp is sent
 * later. */
int rgi_greeting_step(rgi_greeting *greeting, rgi_tcp *tcp);

#endif
