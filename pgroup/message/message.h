/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between processes of the world: bytes under a context and a tag.
 *
 * Inside a node they go through the arena (message_cell.c, message_pipe.c),
 * between nodes over a duplicate of the world by MPI (message_mpi.c). Messages
 * with the same source, context and tag arrive in order. A context is a number of 64 bits that only
 * the members of a group know: so a million groups need no communicators.
 *
 * A short message is buffered: its send is done at once, unless the inbox of a receiver on the same
 * node is full; then it is done when the receiver has emptied the inbox. A long message needs its
 * receiver: its send is done when the receiver, or MPI, has taken the data.
 *
 * Any thread. Only wait, deliver and await block. */
#ifndef RGI_MESSAGE_H
#define RGI_MESSAGE_H

#include "message/message_list.h"

/* Starts a message. dest: a world rank, may be the caller's own. The caller must not change data or
 * r until r is done. RG_ERR_NOMEM: the arena is full, and nothing was sent; if that is found later,
 * it is in r->error. */
int rgi_message_send(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                     rgi_message *r);

/* Starts a receive. source: a world rank or RGI_ANY; tag: a tag or RGI_ANY. For a message longer
 * than room r->error is RG_ERR_TRUNCATE, and the part that fits is in data. */
int rgi_message_receive(uint64_t context, int source, int tag, void *data, size_t room,
                        rgi_message *r);

/* Waits until r is done; returns its error. If the wait itself fails (RG_ERR_TIMEOUT, a death, a
 * revocation), r is given up (rgi_message_abandon), so that the caller may reuse its memory. */
int rgi_message_wait(rgi_message *r, const char *call);

/* rgi_message_send and rgi_message_wait. */
int rgi_message_deliver(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                        const char *call);

/* Gives up a receive that no message has matched yet; *cancelled: whether it has been. */
void rgi_message_cancel(rgi_message *r, int *cancelled);

/* Gives up r in any state; it is done then. What is under way is lost, and the other side of a long
 * message gets RG_ERR_TIMEOUT. The caller may use data again at once, except those of a long send
 * to another node: MPI uses them as long as the library runs. */
void rgi_message_abandon(rgi_message *r);

/* Records the text of r's error, if it has one; returns r->error. */
int rgi_message_explain(const rgi_message *r, const char *call);

/* *there: whether a message has arrived that a receive would match; if so its source, tag and
 * length. */
int rgi_message_probe(uint64_t context, int source, int tag, int *there, int *from, int *its_tag,
                      size_t *bytes);

/* The same, but waits until there is one. */
int rgi_message_await(uint64_t context, int source, int tag, const char *call, int *from,
                      int *its_tag, size_t *bytes);

#endif
