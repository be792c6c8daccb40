/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The server: a thread of the node's daemon that reads and writes the node's memory for processes
 * of other nodes (query.h). So an access needs neither MPI nor the process whose memory it is. The
 * server executes a query when all of it has come: a client that dies leaves no query half
 * executed. It keeps the session of each rank while connections break and are made again. The
 * thread starts with the first client. Runs in guards. */
#ifndef RGI_SERVER_H
#define RGI_SERVER_H

#include "shm/process_table.h"

/* table: tells the size of the world, and whose queries are not executed any more: those of the
 * dead. It stays until rgi_server_close. Also raises the limit of descriptors as far as it goes. 0:
 * no memory. */
int rgi_server_open(const rgi_process_table *table);

/* fd: a connection whose greeting is done, and does not block; taken over. */
void rgi_server_add_client(int fd);

/* No descriptor is left: closes, soon, connections that have not been in use for the longest time.
 * Their clients make them again when they need them. */
void rgi_server_close_unused(void);

/* Ends the thread and all connections. Before rgi_arena_close. */
void rgi_server_close(void);

#endif
