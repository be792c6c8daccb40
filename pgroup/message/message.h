/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between processes of the world: bytes under a context and a tag.
 *
 * Inside a node they go through the arena (message_cell.c, message_pipe.c),
 * between nodes over a duplicate of the world by MPI (message_mpi.c). Messages
 * with the same source, context and tag arrive in order. A context is a number
 * of 64 bits that only those who belong together know: a million groups need no
 * communicators.
 *
 * A short message is buffered: its send is done at once, unless a receiver on the
 * node has a lot in its inbox that it has not looked at yet; then it is done when the
 * receiver has. A long one needs its receiver: its send is done when the data
 * have been taken.
 *
 * Any thread. Nothing here blocks except wait and await. */
#ifndef RGI_MESSAGE_H
#define RGI_MESSAGE_H

#include "message/message_list.h"

/* Starts a message. dest: a world rank, may be the caller's own. data and r stay
 * untouched until r is done. RG_ERR_NOMEM: the arena is full; then nothing was
 * sent and nothing else is lost. It comes through r->error if it shows later. */
int rgi_message_send(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                     rgi_message *r);

/* source, tag: or RGI_ANY. A longer message than room is RG_ERR_TRUNCATE in
 * r->error; the part that fits is there. */
int rgi_message_receive(uint64_t context, int source, int tag, void *data, size_t room,
                        rgi_message *r);

/* Does what can be done now for all messages of this process, and looks. */
int rgi_message_test(rgi_message *r, int *done);

/* Until r is done; returns r->error. After RG_ERR_TIMEOUT r has been given up
 * (rgi_message_abandon): the memory of r is the caller's again. */
int rgi_message_wait(rgi_message *r, const char *call);

/* rgi_message_send and that wait. */
int rgi_message_deliver(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                        const char *call);

/* Gives up a receive that has not been met yet: *cancelled says whether. */
void rgi_message_cancel(rgi_message *r, int *cancelled);

/* Gives up r whatever its state; it is done then. What is under way is lost, and
 * the other side of a long message gets RG_ERR_TIMEOUT. data may be used again at
 * once; only the data of a long send to another node stay in use while the
 * library runs. */
void rgi_message_abandon(rgi_message *r);

/* The text for a request that ended with an error; returns r->error. */
int rgi_message_explain(const rgi_message *r, const char *call);

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
