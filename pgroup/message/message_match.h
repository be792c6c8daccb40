/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Matching of messages and receives. Called with the lock of message.c held. */
#ifndef RGI_MESSAGE_MATCH_H
#define RGI_MESSAGE_MATCH_H

#include "message/message_cell.h"
#include "message/message_list.h"

void rgi_message_match_open(void);
void rgi_message_match_close(void);

/* A message has come: takes the cell over. */
void rgi_message_match_arrival(rgi_message_cell *cell);

/* message, a receive, matches the first message that fits, now or later. */
void rgi_message_match_post(rgi_message *message);
void rgi_message_match_unpost(rgi_message *message);

/* The first message that a receive of this envelope would match, or NULL. */
rgi_message_cell *rgi_message_match_find(const rgi_message_envelope *wanted);

/* The same, and only rgi_message_match_accept can receive it from now on. */
rgi_message_cell *rgi_message_match_take(const rgi_message_envelope *wanted);

/* message receives the message that was taken; takes the cell over. */
void rgi_message_match_accept(rgi_message *message, rgi_message_cell *taken);

/* A FIN has come for a message that no receive has matched yet; envelope: the FIN's envelope. */
void rgi_message_match_fin(const rgi_message_envelope *envelope);

#endif
