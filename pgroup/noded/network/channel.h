/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Channels: messages from one daemon to another that arrive once, in order, whatever happens to
 * connections in between, as long as any chain of daemons connects the two. Runs in guards.
 *
 * Cost: the message itself, and an acknowledgement for many. Where no connection with the node can
 * be made: the message on every connection of the overlay. */
#ifndef RGI_CHANNEL_H
#define RGI_CHANNEL_H

#include <stddef.h>

#include "noded/wire/overlay.h"

/* The kind of the channels' messages among those of the connections. */
#define RGI_CHANNEL_MESSAGE 2u

/* A kind inside the channels; the others are the callers'. */
#define RGI_CHANNEL_PROBE 0u

typedef void rgi_channel_receiver(int from, uint32_t kind, const void *data, size_t bytes);

/* 0: no memory. receiver: gets the messages. */
int rgi_channels_open(const rgi_overlay *overlay, rgi_channel_receiver *receiver);
void rgi_channels_close(void);

/* Queues a message; the node is connected if it is not, as long as there is something to send.
 * After rgi_channel_drop: does nothing. */
void rgi_channel_send(int node, uint32_t kind, const void *data, size_t bytes);

/* Whether all messages to the node have been acknowledged. */
int rgi_channel_is_idle(int node);

/* Sees that something is on its way to the node which it acknowledges: so rgi_connection_heard
 * tells whether it can be reached. */
void rgi_channel_probe(int node);

/* A message of kind RGI_CHANNEL_MESSAGE from a neighbour; a connection with a node has come up, or
 * has broken. */
void rgi_channel_receive(int neighbour, const void *data, size_t bytes);
void rgi_channel_up(int node);
void rgi_channel_broken(int node);

/* What the time asks for; called at least every rgi_channels_timeout seconds (-1: no limit). */
void rgi_channels_step(void);
double rgi_channels_timeout(void);

/* The node is lost: what is queued for it is dropped. */
void rgi_channel_drop(int node);

#endif
