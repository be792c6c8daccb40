/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Long messages inside a node. Called with the lock of message.c held. */
#ifndef RGI_MESSAGE_PIPE_H
#define RGI_MESSAGE_PIPE_H

#include "message/message_cell.h"
#include "message/message_list.h"

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

#endif
