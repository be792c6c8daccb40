/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How many messages the library sends. A test that names messages.c under "sources" and
 * rgi_message_send under "wrap" has the linker put a function before the library's own, which
 * counts. */
#ifndef MESSAGES_H
#define MESSAGES_H

typedef struct {
  long inside, between; /* messages inside the caller's node, and to other nodes */
} messages_sent;

/* What the caller has sent since the program began. */
messages_sent messages_count(void);

/* The messages between nodes that all ranks have sent. Collective over MPI_COMM_WORLD. */
long messages_between_all(void);

#endif
