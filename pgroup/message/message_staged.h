/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Long messages between nodes in a job that survives. Called with the lock of message.c held. */
#ifndef RGI_MESSAGE_STAGED_H
#define RGI_MESSAGE_STAGED_H

#include "message/message_cell.h"
#include "message/message_list.h"

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
