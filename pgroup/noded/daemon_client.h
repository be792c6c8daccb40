/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A rank's connection with another node's server (server.h): queries, and their answers in the same
 * order. Runs in ranks; one thread at a time. */
#ifndef RGI_DAEMON_CLIENT_H
#define RGI_DAEMON_CLIENT_H

#include <stddef.h>

#include "noded/query.h"
#include "noded/tcp.h"

/* A query that is queued; the caller keeps it until it has its answer. */
typedef struct rgi_daemon_client_query {
  struct rgi_daemon_client_query *next;
  rgi_query query;
  const rgi_query_entry *entries;
  const char *data; /* what it writes; NULL: nothing */
  char *answer;     /* where the answer goes */
  uint64_t got;     /* bytes of the answer that are there */
  int sent;
} rgi_daemon_client_query;

typedef struct {
  int node;                              /* an index of the overlay */
  rgi_tcp tcp;                           /* closed: not connected */
  double broken;                         /* when the connection broke; 0: it has not */
  rgi_daemon_client_query *first, *last; /* without an answer */
  rgi_daemon_client_query *sending;      /* the first of them that is not sent */
  size_t sent;                           /* bytes of that one that are */
  int deaths, gone; /* gone: whether all of the node were dead after so many deaths */
} rgi_daemon_client;

/* Whether all processes of the node are dead. */
int rgi_daemon_client_node_dead(rgi_daemon_client *l);

/* Connects unless it is connected. 0: it cannot be done, or the connection is broken, or the node's
 * processes are dead. Waits for the other side, 15 s at most. */
int rgi_daemon_client_open(rgi_daemon_client *l);
void rgi_daemon_client_close(rgi_daemon_client *l);

/* Queues a query, and sends what the socket takes now if no other query waits before it. The
 * connection is open. After an error it is the next step that finds the connection broken. */
void rgi_daemon_client_send(rgi_daemon_client *l, rgi_daemon_client_query *o);

/* Sends and receives what is possible now. Takes a query that has its answer off the queue and
 * returns it, or NULL. */
rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *l);

/* Closes the connection; takes the oldest query off the queue, answered or not, and returns it, or
 * NULL. */
rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *l);

#endif
