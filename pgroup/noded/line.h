/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process's connection with another node's server (noded/server.h): questions, and the
 * answers to them in the same order. One thread at a time. */
#ifndef RGI_LINE_H
#define RGI_LINE_H

#include "noded/service.h"

/* A question that has been queued. */
typedef struct rgi_line_op {
  struct rgi_line_op *next;
  rgi_ask ask;
  const rgi_row *rows;
  const char *data; /* what is written; stays until it is sent */
  char *answer;     /* where the answer goes */
  uint64_t got;     /* so much of it is there */
  int sent;
} rgi_line_op;

typedef struct {
  int node;                  /* of the mesh */
  int fd;                    /* -1: not connected */
  double broken;             /* since when; 0: it is not */
  rgi_line_op *first, *last; /* which are not answered */
  rgi_line_op *sending;      /* the first of them that is not sent */
  size_t sent;               /* so much of it is */
  int deaths, gone;          /* whether all of the node are dead, after so many deaths */
  char heard[512];           /* beyond what was read of it */
  size_t begin, end;
} rgi_line;

/* Whether all processes of the node are dead. */
int rgi_line_gone(rgi_line *l);

/* Connects unless it is. 0: it cannot be done, or is broken, or the node is gone. Waits for
 * the other side, 15 s at most. */
int rgi_line_open(rgi_line *l);
void rgi_line_close(rgi_line *l);

void rgi_line_queue(rgi_line *l, rgi_line_op *o);

/* Sends and receives what is possible now; returns a question that has been answered, off the
 * queue, or NULL. */
rgi_line_op *rgi_line_step(rgi_line *l);

/* Takes the oldest question off the queue, whatever has become of it; NULL: none. Nothing more
 * is sent or received then. */
rgi_line_op *rgi_line_give_up(rgi_line *l);

#endif
