/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages to and from processes of other nodes. Called with the lock of message.c held. */
#ifndef RGI_MESSAGE_REMOTE_H
#define RGI_MESSAGE_REMOTE_H

#include "message/message_cell.h"
#include "message/message_list.h"

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

#endif
