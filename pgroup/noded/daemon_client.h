/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process's connection with another node's server (noded/server.h): questions, and the
 * answers to them in the same order. One thread at a time. */
#ifndef RGI_DAEMON_CLIENT_H
#define RGI_DAEMON_CLIENT_H

#include "noded/query.h"

/* A question that has been queued. */
typedef struct rgi_daemon_client_query {
  struct rgi_daemon_client_query *next;
  rgi_query query;
  const rgi_query_entry *entries;
  const char *data; /* what is written; stays until it is sent */
  char *answer;     /* where the answer goes */
  uint64_t got;     /* so much of it is there */
  int sent;
} rgi_daemon_client_query;

typedef struct {
  int node;                              /* of the overlay */
  int fd;                                /* -1: not connected */
  double broken;                         /* since when; 0: it is not */
  rgi_daemon_client_query *first, *last; /* which are not answered */
  rgi_daemon_client_query *sending;      /* the first of them that is not sent */
  size_t sent;                           /* so much of it is */
  int deaths, gone; /* whether all of the node are dead, after so many deaths */
  char heard[512];  /* beyond what was read of it */
  size_t begin, end;
} rgi_daemon_client;

/* Whether all processes of the node are dead. */
int rgi_daemon_client_node_dead(rgi_daemon_client *l);

/* Connects unless it is. 0: it cannot be done, or is broken, or the node is gone. Waits for
 * the other side, 15 s at most. */
int rgi_daemon_client_open(rgi_daemon_client *l);
void rgi_daemon_client_close(rgi_daemon_client *l);

void rgi_daemon_client_queue(rgi_daemon_client *l, rgi_daemon_client_query *o);

/* Sends and receives what is possible now; returns a question that has been answered, off the
 * queue, or NULL. */
rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *l);

/* Takes the oldest question off the queue, whatever has become of it; NULL: none. Nothing more
 * is sent or received then. */
rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *l);

#endif
