/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A rank's session with another node's server (server.h): queries, and their answers in the same
 * order. The connection is made when there is a query, and made again when it breaks; then the
 * session goes on where it was, and no query is executed twice (query.h). How long to be patient is
 * the caller's to say. Runs in ranks; one thread at a time. Nothing here blocks. */
#ifndef RGI_DAEMON_CLIENT_H
#define RGI_DAEMON_CLIENT_H

#include <stddef.h>

#include "noded/server/query.h"
#include "noded/wire/dial.h"
#include "noded/wire/tcp.h"

/* A query that is queued; the caller keeps it, and its data, until it has its answer. */
typedef struct rgi_daemon_client_query {
  struct rgi_daemon_client_query *next;
  rgi_query query; /* number: 0: not sent yet */
  const rgi_query_entry *entries;
  const char *data; /* what it writes; NULL: nothing */
  char *answer;     /* where the answer goes */
  uint64_t got;     /* bytes of the answer that are there */
  int sent;         /* all of it, on this connection */
  int executed;     /* before this connection; its answer is there */
} rgi_daemon_client_query;

typedef enum {
  RGI_DAEMON_CLIENT_AWAY,     /* not connected; or a connection is being made */
  RGI_DAEMON_CLIENT_RESUMING, /* the session is sent, and the server's state has not come */
  RGI_DAEMON_CLIENT_UP
} rgi_daemon_client_state;

typedef struct {
  int node; /* an index of the overlay */
  rgi_query_use use;
  rgi_daemon_client_state state;
  rgi_tcp tcp;                           /* closed: not connected */
  rgi_dial dial;                         /* AWAY */
  uint64_t attempt;                      /* the newest connection's; 0: there was none */
  uint64_t numbered, received;           /* queries; answers */
  rgi_daemon_client_query *first, *last; /* without an answer */
  rgi_daemon_client_query *sending;      /* the first of them that is not sent */
  size_t sent;                           /* bytes of that one that are */
  int held;                              /* it waits for the answers to gets */
  int gets;                              /* without an answer */
  int starved;                           /* no descriptor is left for a connection */
  int refused;                           /* RGI_QUERY_REFUSED */
  int deaths, gone; /* gone: whether all of the node were dead after so many deaths */
} rgi_daemon_client;

/* Whether all processes of the node are dead. */
int rgi_daemon_client_node_dead(rgi_daemon_client *client);

/* Closes the connection; the session remains. */
void rgi_daemon_client_close(rgi_daemon_client *client);

/* Queues a query, and sends what the socket takes now if no other query waits before it. Without a
 * connection begins to make one. */
void rgi_daemon_client_send(rgi_daemon_client *client, rgi_daemon_client_query *request);

/* Does what is possible now. Takes a query that has its answer off the queue and returns it, or
 * NULL. */
rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *client);

/* What client->tcp.fd, unless it is -1, must have before a step does anything: POLLIN, POLLOUT. */
short rgi_daemon_client_awaits(const rgi_daemon_client *client);

/* Whether a query that waits cannot be answered although the node is not lost: no descriptor is
 * left for a connection, or the server refuses the session. */
int rgi_daemon_client_is_stuck(const rgi_daemon_client *client);

/* Sets the error's text: why a call gets no answer. RG_ERR_PROC_FAILED, or RG_ERR_SYSTEM, which is
 * returned. */
int rgi_daemon_client_report(const rgi_daemon_client *client, int error, const char *call);

/* Closes the connection; takes the oldest query off the queue, answered or not, and returns it, or
 * NULL. */
rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *client);

#endif
