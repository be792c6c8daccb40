/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards, in ranks, and in the server's thread; a connection is used by one thread at a
 * time. Small messages leave at once (TCP_NODELAY). A call that a signal interrupts counts as one
 * for which nothing was possible: all callers come back. */
#include "noded/wire/tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* So few bytes are received through the buffer. */
#define SHORT_BYTES ((size_t)512)

/* --- opening and closing ------------------------------------------------------------------- */

static void set_option(const rgi_tcp *tcp, int level, int name, int value) {
  setsockopt(tcp->fd, level, name, &value, sizeof value);
}

int rgi_tcp_listen(uint32_t address, uint16_t *port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = address};
  socklen_t size = sizeof a;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 1024) != 0 ||
                  getsockname(fd, (struct sockaddr *)&a, &size) != 0)) {
    close(fd);
    fd = -1;
  }
  *port = fd < 0 ? 0 : a.sin_port;
  return fd;
}

int rgi_tcp_accept(rgi_tcp *tcp, int listener) {
  *tcp = (rgi_tcp){.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (tcp->fd < 0)
    return 0;
  set_option(tcp, IPPROTO_TCP, TCP_NODELAY, 1);
  return 1;
}

int rgi_tcp_dial(rgi_tcp *tcp, uint32_t address, uint16_t port, double limit) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = address};
  rgi_tcp_close(tcp);
  tcp->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (tcp->fd >= 0) {
    set_option(tcp, IPPROTO_TCP, TCP_NODELAY, 1);
    rgi_tcp_limit(tcp, limit);
    if (connect(tcp->fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS)
      return 1;
  }
  tcp->error = errno;
  rgi_tcp_close(tcp);
  return 0;
}

int rgi_tcp_dialed(rgi_tcp *tcp) {
  struct pollfd ready = {tcp->fd, POLLOUT, 0};
  socklen_t size = sizeof tcp->error;
  if (poll(&ready, 1, 0) <= 0)
    return 0;
  getsockopt(tcp->fd, SOL_SOCKET, SO_ERROR, &tcp->error, &size);
  return tcp->error ? -1 : 1;
}

uint32_t rgi_tcp_peer(const rgi_tcp *tcp) {
  struct sockaddr_in a = {0};
  socklen_t size = sizeof a;
  return getpeername(tcp->fd, (struct sockaddr *)&a, &size) == 0 ? a.sin_addr.s_addr : 0;
}

uint32_t rgi_tcp_own(const rgi_tcp *tcp) {
  struct sockaddr_in a = {0};
  socklen_t size = sizeof a;
  return getsockname(tcp->fd, (struct sockaddr *)&a, &size) == 0 ? a.sin_addr.s_addr : 0;
}

/* The probes begin after a third of the time, so that three of them can fail. */
void rgi_tcp_limit(const rgi_tcp *tcp, double seconds) {
  int limit = (int)(1000 * seconds), third = limit < 3000 ? 1 : limit / 3000;
  if (limit <= 0)
    return;
  set_option(tcp, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(tcp, IPPROTO_TCP, TCP_KEEPIDLE, third);
  set_option(tcp, IPPROTO_TCP, TCP_KEEPINTVL, third);
  set_option(tcp, IPPROTO_TCP, TCP_USER_TIMEOUT, limit);
}

void rgi_tcp_allow_unread(const rgi_tcp *tcp) {
  set_option(tcp, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
}

void rgi_tcp_close(rgi_tcp *tcp) {
  if (tcp->fd >= 0)
    close(tcp->fd);
  tcp->fd = -1;
  tcp->in.begin = tcp->in.end = 0;
}

void rgi_tcp_free(rgi_tcp *tcp) {
  rgi_tcp_close(tcp);
  rgi_buffer_free(&tcp->in);
  rgi_buffer_free(&tcp->out);
}

/* --- sending -------------------------------------------------------------------------------- */

ssize_t rgi_tcp_push_parts(rgi_tcp *tcp, struct iovec *parts, int n) {
  struct msghdr m = {.msg_iov = parts, .msg_iovlen = (size_t)n};
  ssize_t sent = sendmsg(tcp->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR))
    return 0;
  tcp->error = sent < 0 ? errno : 0;
  return sent;
}

int rgi_tcp_push(rgi_tcp *tcp) {
  ssize_t sent = 1;
  while (sent > 0 && rgi_buffer_pending(&tcp->out)) {
    struct iovec part = {tcp->out.data + tcp->out.begin, rgi_buffer_pending(&tcp->out)};
    sent = rgi_tcp_push_parts(tcp, &part, 1);
    rgi_buffer_take(&tcp->out, sent > 0 ? (size_t)sent : 0);
  }
  return sent >= 0;
}

int rgi_tcp_queue(rgi_tcp *tcp, const void *data, size_t bytes) {
  char *at = rgi_buffer_room(&tcp->out, bytes);
  tcp->error = at ? 0 : ENOMEM;
  if (at && bytes)
    memcpy(at, data, bytes);
  if (at)
    tcp->out.end += bytes;
  return at != NULL;
}

/* A new connection has room for all of it. */
int rgi_tcp_push_first(rgi_tcp *tcp, const void *data, size_t bytes) {
  struct iovec part = {(void *)(uintptr_t)data, bytes};
  return rgi_tcp_push_parts(tcp, &part, 1) == (ssize_t)bytes;
}

/* --- receiving ------------------------------------------------------------------------------ */

static ssize_t receive_bytes(rgi_tcp *tcp, char *to, size_t bytes) {
  ssize_t n = recv(tcp->fd, to, bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return 0;
  tcp->error = n < 0 ? errno : 0;
  return n > 0 ? n : -1;
}

ssize_t rgi_tcp_pull(rgi_tcp *tcp, size_t bytes) {
  char *at = rgi_buffer_room(&tcp->in, bytes);
  if (!at) {
    tcp->error = ENOMEM;
    return -1;
  }
  ssize_t n = receive_bytes(tcp, at, bytes);
  tcp->in.end += n > 0 ? (size_t)n : 0;
  return n;
}

ssize_t rgi_tcp_pull_to(rgi_tcp *tcp, char *to, size_t bytes) {
  size_t here = rgi_buffer_pending(&tcp->in);
  if (!here && bytes >= SHORT_BYTES)
    return receive_bytes(tcp, to, bytes);
  ssize_t n = here ? 1 : rgi_tcp_pull(tcp, SHORT_BYTES);
  if (n <= 0)
    return n;
  here = rgi_buffer_pending(&tcp->in) < bytes ? rgi_buffer_pending(&tcp->in) : bytes;
  memcpy(to, tcp->in.data + tcp->in.begin, here);
  rgi_buffer_take(&tcp->in, here);
  return (ssize_t)here;
}

int rgi_tcp_take(rgi_tcp *tcp, void *to, size_t bytes) {
  ssize_t n = rgi_tcp_pull(tcp, bytes - rgi_buffer_pending(&tcp->in));
  if (n < 0 || rgi_buffer_pending(&tcp->in) < bytes)
    return n < 0 ? -1 : 0;
  memcpy(to, tcp->in.data + tcp->in.begin, bytes);
  rgi_buffer_take(&tcp->in, bytes);
  return 1;
}
