/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The daemons' connections with one another, over TCP. A connection that breaks, or that cannot be
 * made, means that the other node is lost. Runs in guards: nothing here blocks. */
#ifndef RGI_CONNECTION_H
#define RGI_CONNECTION_H

#include <stddef.h>

#include "noded/overlay.h"

typedef struct rgi_connection rgi_connection;

/* What the owner of the connections hears of. Nodes are given by their indices. */
typedef struct {
  void (*up)(int node); /* a connection to the node is ready for messages */
  void (*received)(int from, uint32_t kind, const void *data, size_t bytes);
  void (*lost)(int node, const char *why);
  void (*client)(int fd); /* a rank of another node wants the server; the owner closes fd */
} rgi_connection_events;

/* listener: a socket that listens. */
int rgi_connections_open(rgi_overlay *overlay, int listener, const rgi_connection_events *events);
void rgi_connections_close(void);

/* A descriptor that is readable when there is something to do; the owner then calls step. */
int rgi_connections_fd(void);
void rgi_connections_step(void);

/* Whether a connection is being made, from either side: then the owner calls step every 0.1 s. */
int rgi_connections_busy(void);

/* Makes rgi_connections_fd readable whenever this descriptor is; or the first time only, for a
 * descriptor that stays readable, as that of a process that has ended. */
void rgi_connections_watch(int fd);
void rgi_connections_watch_once(int fd);

/* Makes a connection unless there is one. */
void rgi_connection_make(int node);
int rgi_connection_is_up(int node);

/* Queues a message; makes a connection first if there is none. */
void rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes);

/* The same to all nodes whose connections are up, except one (-1: to all). */
void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes);

/* Closes all connections to a node, without an event. */
void rgi_connection_drop(int node);

/* Whether the kernel has taken all that was queued. */
int rgi_connections_flushed(void);

#endif
