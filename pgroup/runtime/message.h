/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between processes of the world: bytes under a context and a tag.
 *
 * Inside a node they go through the arena: a short one is a cell that the sender
 * fills and hangs into the receiver's inbox, a long one a pipe of a few chunks
 * that both sides work at. Between nodes they go over a duplicate of the world
 * by MPI. Messages with the same source, context and tag arrive in order. A
 * context is a number of 64 bits that only those who belong together know: a
 * million groups need no communicators.
 *
 * Any thread. Nothing here blocks except rgi_message_wait. */
#ifndef RGI_MESSAGE_H
#define RGI_MESSAGE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define RGI_ANY (-1)

typedef struct rgi_request {
  /* What the caller may read when it is done. */
  int done, error; /* error: RG_SUCCESS or RG_ERR_TRUNCATE */
  int source, tag; /* of the message that came; world rank */
  size_t bytes;    /* its length */
  /* The rest is the message layer's own. */
  int sending, listed;
  uint64_t context, pipe; /* pipe: in the arena; 0: none */
  char *data, *own;       /* own: memory to be freed at the end */
  size_t room, moved;
  MPI_Request mpi;
  struct rgi_request *next, **link;
} rgi_request;

/* Collective over the world, after rgi_node_open. */
int rgi_message_open(MPI_Comm world);
void rgi_message_close(void);

/* data and r stay untouched until r is done. dest: a world rank, may be the
 * caller's own. RG_ERR_NOMEM: the arena is full; then nothing was sent. */
int rgi_message_send(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                     rgi_request *r);

/* source, tag: or RGI_ANY. A longer message than room is RG_ERR_TRUNCATE in
 * r->error; the part that fits is there. */
int rgi_message_receive(uint64_t context, int source, int tag, void *data, size_t room,
                        rgi_request *r);

/* Does what can be done now for all messages of this process, and looks. */
int rgi_message_test(rgi_request *r, int *done);
int rgi_progress(void);

/* Whether anything of this process's waits for rgi_progress apart from its
 * inbox: then a wait for something else must not sleep long. */
int rgi_message_busy(void);

/* Until r is done; returns r->error, or RG_ERR_TIMEOUT with r still open. */
int rgi_message_wait(rgi_request *r, const char *call);

/* Gives up a receive that has not been met yet: *cancelled says whether. */
void rgi_message_cancel(rgi_request *r, int *cancelled);

/* Whether a message is there: its source, tag and length if so. */
int rgi_message_probe(uint64_t context, int source, int tag, int *there, int *from, int *its_tag,
                      size_t *bytes);

/* The same, until one is there. */
int rgi_message_await(uint64_t context, int source, int tag, const char *call, int *from,
                      int *its_tag, size_t *bytes);

/* Messages that this process has sent since it started: inside the node and to
 * other nodes. */
void rgi_message_count(unsigned long *inside, unsigned long *between);

#endif
