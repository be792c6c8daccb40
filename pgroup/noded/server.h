/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The server: a thread of the node's daemon that reads and writes the node's memory for processes
 * of other nodes (query.h). So an access needs neither MPI nor the process whose memory it is. The
 * server executes a query when all of it has come: a client that dies leaves no query half
 * executed. The thread starts with the first client. Runs in guards. */
#ifndef RGI_SERVER_H
#define RGI_SERVER_H

/* fd: a connection whose handshake is done, and does not block; taken over. */
void rgi_server_add_client(int fd);

/* Ends the thread and all connections. Before rgi_arena_close. */
void rgi_server_close(void);

#endif
