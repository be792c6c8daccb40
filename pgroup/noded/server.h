/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The server: a thread of the node's daemon (daemon.h) that reads and writes the node's
 * memory for processes of other nodes (query.h). So an access needs neither MPI nor the
 * process whose memory it is, and nobody's death can leave it half done: it is done when all
 * of the question is there. Started with the first client; runs in a guard. */
#ifndef RGI_SERVER_H
#define RGI_SERVER_H

/* A connection that has greeted, which does not block: taken over. */
void rgi_server_add_client(int fd);

/* Before the arena goes. */
void rgi_server_close(void);

#endif
