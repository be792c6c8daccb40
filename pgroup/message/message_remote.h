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

/* r->source: to whom. r may be done then. */
int rgi_message_remote_send(rgi_message *r);

/* r receives what the cell, a REMOTE_RTS, announces; takes the cell over. */
void rgi_message_remote_accept(rgi_message *r, rgi_message_cell *c);

/* Moves the data of long messages on. */
void rgi_message_remote_progress(void);

void rgi_message_remote_abandon(rgi_message *r);

#endif
