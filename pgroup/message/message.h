/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between processes of the world: bytes under a context and a tag.
 *
 * Inside a node they go through the arena (message_cell.c, message_pipe.c),
 * between nodes over a duplicate of the world by MPI (message_remote.c). Messages
 * with the same source, context and tag arrive in order. A context is a number of 64 bits that only
 * the members of a group know: so a million groups need no communicators.
 *
 * A short message is buffered: its send is done at once, unless the inbox of a receiver on the same
 * node is full; then it is done when the receiver has emptied the inbox. Between nodes it is done
 * when MPI has taken all but a window of what was sent to this receiver before. A long message
 * needs its receiver: its send is done when the receiver, or MPI, has taken the data.
 *
 * Any thread. Only wait, deliver and await block. */
#ifndef RGI_MESSAGE_H
#define RGI_MESSAGE_H

#include "message/message_cell.h"
#include "message/message_list.h"

/* Starts a message. to->peer may be the caller itself. The caller must not change data or message
 * until message is done. RG_ERR_NOMEM: the arena is full, and nothing was sent; if that is found
 * later, it is in message->error. Inside the node a message of a thread that has set a purpose
 * (rgi_arena_set_purpose) does not fail so: it takes memory that is set aside, on both sides, or
 * waits until there is some.
 */
int rgi_message_send(const rgi_message_envelope *to, const void *data, rgi_message *message);

/* As rgi_message_send, for messages of the library's own, of which an error on the sender would
 * leave others waiting: in a full arena they take what is set aside (RGI_ARENA_TELL). */
int rgi_message_send_surely(const rgi_message_envelope *to, const void *data, rgi_message *message);

/* Starts a receive. For a message longer than from->bytes message->error is RG_ERR_TRUNCATE, and
 * the part that fits is in data. */
int rgi_message_receive(const rgi_message_envelope *from, void *data, rgi_message *message);

/* Waits until message is done; returns its error. If the wait itself fails (RG_ERR_TIMEOUT, a
 * death, a revocation), message is given up (rgi_message_abandon), so that the caller may reuse its
 * memory. */
int rgi_message_wait(rgi_message *message, const char *call);

/* rgi_message_send_surely and rgi_message_wait. */
int rgi_message_deliver(const rgi_message_envelope *to, const void *data, const char *call);

/* Gives up a receive that no message has matched yet; *cancelled: whether it has been. */
void rgi_message_cancel(rgi_message *message, int *cancelled);

/* Gives up message in any state; it is done then. What is under way is lost, and the other side of
 * a long message gets RG_ERR_TIMEOUT, unless all data are under way. The caller may use data again
 * at once, unless message->left: a long message between nodes, in a job that does not survive. */
void rgi_message_abandon(rgi_message *message);

/* Records the text of message's error, if it has one; returns message->error. */
int rgi_message_explain(const rgi_message *message, const char *call);

/* *there: whether a message has arrived that a receive would match; if so *found describes it.
 * taken: NULL, or the message is also taken: no receive can match it any more, only
 * rgi_message_accept receives it. */
int rgi_message_probe(const rgi_message_envelope *wanted, int *there, rgi_message_envelope *found,
                      rgi_message_cell **taken);

/* As rgi_message_probe, but waits until there is one. */
int rgi_message_await(const rgi_message_envelope *wanted, const char *call,
                      rgi_message_envelope *found, rgi_message_cell **taken);

/* As rgi_message_await, for one of n messages; reports name the sender of the first. */
int rgi_message_await_any(const rgi_message_envelope wanted[], int n, const char *call,
                          rgi_message_envelope *found);

/* The caller receives no further message of this context: those that have come are dropped, but for
 * long ones that their senders have not given up. */
void rgi_message_forget(uint64_t context);

/* Receives a message that was taken, into data with so much room. */
void rgi_message_accept(rgi_message_cell *taken, void *data, size_t room, rgi_message *message);

#endif
