/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The parts of the transport of messages, which are called with the lock of message.c held. */
#ifndef RGI_MESSAGE_PARTS_H
#define RGI_MESSAGE_PARTS_H

#include "message/message_cell.h"
#include "message/message_list.h"

/* --- matching of messages and receives -------------------------------------------------------- */

void rgi_message_match_open(void);
void rgi_message_match_close(void);

/* A message has come: takes the cell over. */
void rgi_message_match_arrival(rgi_message_cell *cell);

/* message, a receive, matches the first message that fits, now or later. */
void rgi_message_match_post(rgi_message *message);
void rgi_message_match_unpost(rgi_message *message);

/* The first message that a receive of this envelope would match, or NULL. */
rgi_message_cell *rgi_message_match_find(const rgi_message_envelope *wanted);

/* As rgi_message_match_find, and only rgi_message_match_accept can receive it from now on. */
rgi_message_cell *rgi_message_match_take(const rgi_message_envelope *wanted);

/* message receives the message that was taken; takes the cell over. */
void rgi_message_match_accept(rgi_message *message, rgi_message_cell *taken);

/* Drops the messages of this context that no receive has matched; of long ones those that their
 * senders have given up. */
void rgi_message_match_forget(uint64_t context);

/* A FIN has come for a message that no receive has matched yet; envelope: the FIN's envelope. */
void rgi_message_match_fin(const rgi_message_envelope *envelope);

/* --- long messages inside a node -------------------------------------------------------------- */

/* RG_ERR_NOMEM. */
int rgi_message_pipes_open(void);
void rgi_message_pipes_close(void);

/* A rendezvous request (RTS) for message, to be enqueued; when it has been, message is started. */
int rgi_message_pipe_make_rts(rgi_message *message, const rgi_message_envelope *envelope,
                              rgi_message_cell **cell);
void rgi_message_pipe_start(rgi_message *message);

/* Takes an RTS for a receive. Returns 0 if its sender has withdrawn it; the RTS is gone then. */
int rgi_message_pipe_claim(rgi_message_cell *rts);
int rgi_message_pipe_withdrawn(const rgi_message_cell *rts);

/* message receives what the claimed RTS announces. */
void rgi_message_pipe_accept(rgi_message *message, rgi_message_cell *rts);

/* Moves the data of all messages that have been started or accepted. */
void rgi_message_pipes_progress(void);
void rgi_message_pipe_abandon(rgi_message *message);

/* --- messages to and from processes of other nodes -------------------------------------------- */

void rgi_message_remote_open(void);
void rgi_message_remote_close(void);

/* Whether a message may be sent to this rank now: otherwise too much is on its way to it. */
int rgi_message_remote_has_room(int dest);

/* message->source: to whom. message may be done then. */
int rgi_message_remote_send(rgi_message *message);

/* message receives what the cell, a REMOTE_RTS, announces; takes the cell over. */
void rgi_message_remote_accept(rgi_message *message, rgi_message_cell *cell);

/* Moves the data of long messages on. */
void rgi_message_remote_progress(void);

void rgi_message_remote_abandon(rgi_message *message);

/* --- long messages between nodes in a job that survives --------------------------------------- */

void rgi_message_staged_open(void);
void rgi_message_staged_close(void);

/* A send to message->source: prepare, before it is announced; start, afterwards, with the error of
 * the announcement. RG_ERR_NOMEM. */
int rgi_message_staged_prepare(rgi_message *message, int data_tag);
void rgi_message_staged_start(rgi_message *message, int error);

/* message receives what has been announced. */
void rgi_message_staged_accept(rgi_message *message, const rgi_message_cell_remote_rts *what);

void rgi_message_staged_progress(void);

/* A FIN has come. Returns 0 if no long message under way waits for it. */
int rgi_message_staged_fin(const rgi_message_envelope *envelope);

/* message is done, and MPI does not use its data any more. */
void rgi_message_staged_abandon(rgi_message *message);

#endif
