/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A TCP connection with a node daemon, on either side: between two daemons (connection.h), of the
 * daemon's server with a rank of another node (server.h), of that rank with the server
 * (daemon_client.h). Its socket does not block: each call does what is possible now. Whether a
 * connection that has broken means a death is its owner's to say. */
#ifndef RGI_TCP_H
#define RGI_TCP_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buffer.h"

typedef struct {
  int fd;             /* -1: closed */
  int error;          /* why the last call failed: an errno; 0: the other side has closed it */
  rgi_buffer in, out; /* received, but not taken yet; queued, but not sent yet */
} rgi_tcp;

/* --- opening and closing ------------------------------------------------------------------- */

/* A socket that listens at an address of this machine (0: at all of them) and a port of the
 * system's choice, *port, both in network order; or -1. */
int rgi_tcp_listen(uint32_t address, uint16_t *port);

/* Makes *tcp the next connection that waits at the listener. 0: none does. */
int rgi_tcp_accept(rgi_tcp *tcp, int listener);

/* Closes *tcp and begins to connect it with an address; what is queued stays. limit: as for
 * rgi_tcp_limit. 0: it cannot be done; *tcp is closed. */
int rgi_tcp_dial(rgi_tcp *tcp, uint32_t address, uint16_t port, double limit);

/* After rgi_tcp_dial: 1: the connection is made; 0: not yet; -1: no process listens there. */
int rgi_tcp_dialed(rgi_tcp *tcp);

/* The addresses of the other side and of this one, in network order. */
uint32_t rgi_tcp_peer(const rgi_tcp *tcp);
uint32_t rgi_tcp_own(const rgi_tcp *tcp);

/* The kernel ends the connection when the other side has acknowledged neither data nor probes for
 * so many seconds. 0: it does not look. */
void rgi_tcp_limit(const rgi_tcp *tcp, double seconds);

/* Data that the other side does not read no longer end the connection; silence still does. */
void rgi_tcp_allow_unread(const rgi_tcp *tcp);

/* Closes the socket, if it is open, and drops what has been received. */
void rgi_tcp_close(rgi_tcp *tcp);

/* As rgi_tcp_close, and frees the buffers. */
void rgi_tcp_free(rgi_tcp *tcp);

/* --- data --------------------------------------------------------------------------------- */

/* Sends a short message before what is queued, while nothing of that has been sent. 0: the
 * connection is broken. */
int rgi_tcp_push_first(rgi_tcp *tcp, const void *data, size_t bytes);

/* Takes a message of so many bytes, and receives nothing behind it. 1: it has come; 0: not all of
 * it yet; -1: the connection is broken. */
int rgi_tcp_take(rgi_tcp *tcp, void *to, size_t bytes);

/* Adds data to what is queued. 0: there is no memory. */
int rgi_tcp_queue(rgi_tcp *tcp, const void *data, size_t bytes);

/* Sends what is queued, as far as possible now. 0: the connection is broken. */
int rgi_tcp_push(rgi_tcp *tcp);

/* Sends data from where they lie: how many bytes; 0: none now; -1: the connection is broken. */
ssize_t rgi_tcp_push_parts(rgi_tcp *tcp, struct iovec *parts, int n);

/* Receives at most so many bytes into tcp->in: how many; 0: none now; -1: the connection is broken,
 * or there is no memory. */
ssize_t rgi_tcp_pull(rgi_tcp *tcp, size_t bytes);

/* As rgi_tcp_pull to where the caller wants them, what is in tcp->in first. Few bytes go through
 * tcp->in: so short messages come many at a time. */
ssize_t rgi_tcp_pull_to(rgi_tcp *tcp, char *to, size_t bytes);

#endif
