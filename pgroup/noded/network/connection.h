/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The daemons' connections with one another, over TCP. A connection that breaks is dialled again,
 * for as long as its owner needs it: it says nothing about the other node. What tells that a node
 * is alive is that something comes from it (rgi_connection_heard); both sides of a connection send
 * pings for that. Runs in guards: nothing here blocks. */
#ifndef RGI_CONNECTION_H
#define RGI_CONNECTION_H

#include <stddef.h>

#include "noded/wire/overlay.h"
#include "noded/wire/tcp.h"

typedef struct rgi_connection rgi_connection;

/* What the owner of the connections hears of. Nodes are given by their indices. */
typedef struct {
  void (*up)(int node); /* a connection to the node is ready for messages */
  void (*received)(int from, uint32_t kind, const void *data, size_t bytes);
  void (*broken)(int node);    /* a connection that was up: what was sent may be lost */
  void (*refused)(int node);   /* no process listens at its port, at an address where it answered */
  void (*client)(int fd);      /* a rank of another node wants the server; the owner closes fd */
  void (*guard)(rgi_tcp *tcp); /* another node asks: what is queued is sent, if it is short */
  void (*crowded)(void);       /* no descriptor is left for a connection that has come */
} rgi_connection_events;

/* listener: a socket that listens. */
int rgi_connections_open(rgi_overlay *overlay, int listener, const rgi_connection_events *events);
void rgi_connections_close(void);

/* A descriptor that is readable when there is something to do; the owner then calls step, and at
 * the latest after rgi_connections_timeout seconds (-1: no limit). */
int rgi_connections_fd(void);
double rgi_connections_timeout(void);
void rgi_connections_step(void);

/* Makes rgi_connections_fd readable whenever this descriptor is; or the first time only, for a
 * descriptor that stays readable, as that of a process that has ended. */
void rgi_connections_watch(int fd);
void rgi_connections_watch_once(int fd);

/* Needs a connection with the node from now on, until rgi_connection_drop. */
void rgi_connection_keep(int node);

/* Needs one for some seconds, in which it is asked for again as long as it is to stay. When neither
 * side needs it any more it is closed, and the node is not watched. */
void rgi_connection_make(int node);

/* Whether a connection with the node is up, and something came from it lately: in the last third of
 * the limit. */
int rgi_connection_is_up(int node);

/* Since when a connection with the node has been needed and none has been up; 0: one is, or none is
 * needed. */
double rgi_connection_down_since(int node);

/* When something last came from the node (rgi_clock_now), on a connection or, as the owner noted
 * it, by way of other nodes. At first: when a connection was first needed; 0: never, or it is not
 * watched. Time in which this process was itself stopped does not count. */
double rgi_connection_heard(int node);
void rgi_connection_note_heard(int node);

/* Whether anything has come from the node since it is watched. */
int rgi_connection_was_heard(int node);

/* When this node sent the last ping that, as the other node has told, came there: so lately the
 * other one has heard this one. 0: never. */
double rgi_connection_confirmed(int node);

/* Seconds between pings: a node that lives is heard at least so often. */
double rgi_connections_ping_seconds(void);

/* Why the last attempt to connect with the node failed, in words. */
const char *rgi_connection_why(int node);

/* Queues a message on a connection that is up; 0: there is none. */
int rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes);

/* As rgi_connection_send to all nodes whose connections are up, except one (-1: to all). */
void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes);

/* The node is not dialled any more. Connections that are up stay as long as the other side keeps
 * them: it is told why. */
void rgi_connection_drop(int node);

/* Whether the kernel has taken all that was queued. */
int rgi_connections_flushed(void);

#endif
