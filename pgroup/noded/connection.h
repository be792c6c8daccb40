/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The daemons' connections with one another, over TCP. One that breaks, or that
 * cannot be made, says that the other node is lost. Runs in guards: nothing here
 * blocks, and nothing uses MPI. */
#ifndef RGI_CONNECTION_H
#define RGI_CONNECTION_H

#include <stddef.h>

#include "noded/overlay.h"

typedef struct rgi_connection rgi_connection;

/* What both sides of a connection say first; who calls hears the other's node as `from`. */
typedef struct {
  uint64_t key;
  int32_t from, to; /* nodes; from may be: */
} rgi_connection_greeting;
#define RGI_CONNECTION_CLIENT (-2) /* a process, for the server (server.h) */

/* What the owner of the connections is told. from: an index of a node. */
typedef struct {
  void (*up)(int node); /* a connection to it can be used */
  void (*received)(int from, uint32_t kind, const void *data, size_t bytes);
  void (*lost)(int node, const char *why);
  void (*client)(int fd); /* a process of another node wants the server: taken over */
} rgi_connection_events;

/* listener: a socket that listens. */
int rgi_connections_open(rgi_overlay *overlay, int listener, const rgi_connection_events *events);
void rgi_connections_close(void);

/* Becomes readable when there is something to do; then, and after a while, step. */
int rgi_connections_fd(void);
void rgi_connections_step(void);

/* Whether a connection is being made, from either side: then step is to be called every 0.1 s. */
int rgi_connections_busy(void);

/* A descriptor whose being readable makes rgi_connections_fd readable. */
void rgi_connections_watch(int fd);
void rgi_connections_watch_once(int fd); /* for the end of a process, which lasts */

/* Makes a connection unless there is one. */
void rgi_connection_make(int node);
int rgi_connection_is_up(int node);

/* Queues a message; calls the node first if need be. */
void rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes);

/* To all nodes whose connections are up, but one (-1: to all). */
void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes);

/* Breaks all connections to it. */
void rgi_connection_drop(int node);

/* Whether everything that was queued is with the kernel. */
int rgi_connections_flushed(void);

#endif
