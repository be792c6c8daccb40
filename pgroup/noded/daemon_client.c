/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in ranks. Queries are sent in the order of their queue, each straight from where it lies
 * (sendmsg with its parts), as far as the socket takes them now; answers come in the same order and
 * go straight to where the caller wants them. Nothing waits but rgi_daemon_client_open. A
 * connection that breaks stays broken: whether the node is lost, or only its daemon's connection,
 * the caller finds out by rgi_daemon_client_node_dead. */
#include "noded/daemon_client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/overlay_client.h"
#include "shm/process.h"

#define ANSWER_SECONDS 3.0
#define OPEN_SECONDS 15.0

int rgi_daemon_client_node_dead(rgi_daemon_client *l) {
  rgi_overlay *m = rgi_overlay_get();
  int deaths = rgi_process_deaths();
  if (deaths == l->deaths)
    return l->gone;
  l->deaths = deaths;
  for (int i = 0; i < m->world; i++)
    if (rgi_overlay_rank_nodes(m)[i] == l->node && !rgi_process_is_dead(i))
      return 0;
  return l->gone = 1;
}

/* --- connecting ------------------------------------------------------------------------- */

/* Whether the descriptor becomes ready in time. */
static int await_ready(rgi_daemon_client *l, int fd, short what) {
  struct pollfd p = {fd, what, 0};
  for (double end = rgi_clock_now() + ANSWER_SECONDS;
       rgi_clock_now() < end && !rgi_daemon_client_node_dead(l);)
    if (poll(&p, 1, 10) > 0)
      return 1;
  return 0;
}

static int connect_to(rgi_daemon_client *l, uint32_t address, uint16_t port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = address};
  int on = 1, error = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof error;
  if (fd < 0)
    return -1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ||
      (errno == EINPROGRESS && await_ready(l, fd, POLLOUT) &&
       getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error))
    return fd;
  close(fd);
  return -1;
}

/* Many machines have the same local addresses: another program may listen at this port. */
static int exchange_greetings(rgi_daemon_client *l, int fd) {
  uint64_t key = rgi_overlay_get()->key;
  rgi_overlay_greeting mine = {key, RGI_OVERLAY_CLIENT, l->node}, theirs;
  return send(fd, &mine, sizeof mine, MSG_NOSIGNAL) == (ssize_t)sizeof mine &&
         await_ready(l, fd, POLLIN) &&
         recv(fd, &theirs, sizeof theirs, 0) == (ssize_t)sizeof theirs && theirs.key == key &&
         theirs.from == l->node;
}

static int try_address(rgi_daemon_client *l, const rgi_overlay_node *n, int which) {
  int fd = connect_to(l, n->address[which], n->port);
  if (fd >= 0 && exchange_greetings(l, fd)) {
    l->fd = fd;
    return 1;
  }
  if (fd >= 0)
    close(fd);
  return 0;
}

int rgi_daemon_client_open(rgi_daemon_client *l) {
  const rgi_overlay_node *n = &rgi_overlay_nodes(rgi_overlay_get())[l->node];
  if (l->fd >= 0)
    return 1;
  for (double end = rgi_clock_now() + OPEN_SECONDS;
       !l->broken && !rgi_daemon_client_node_dead(l) && rgi_clock_now() < end;
       rgi_clock_sleep(0.01))
    for (int i = 0; i < n->n && !rgi_daemon_client_node_dead(l); i++)
      if (try_address(l, n, i))
        return 1;
  l->broken = l->broken > 0 ? l->broken : rgi_clock_now();
  return 0;
}

void rgi_daemon_client_close(rgi_daemon_client *l) {
  if (l->fd >= 0)
    close(l->fd);
  l->fd = -1;
}

static void break_connection(rgi_daemon_client *l) {
  rgi_daemon_client_close(l);
  l->broken = rgi_clock_now();
}

/* --- sending ------------------------------------------------------------------------------ */

/* The parts of a query that are not sent yet. */
static int remaining_parts(const rgi_daemon_client *l, const rgi_daemon_client_query *o,
                           struct iovec parts[4]) {
  static char padding[8];
  uint64_t data = rgi_query_data_bytes(&o->query), bytes = data ? o->query.bytes : 0;
  const struct iovec all[4] = {
      {(void *)(uintptr_t)&o->query, sizeof o->query},
      {(void *)(uintptr_t)o->entries, ((size_t)o->query.dims + o->query.runs) * sizeof *o->entries},
      {(void *)(uintptr_t)o->data, bytes},
      {padding, data - bytes}};
  size_t skip = l->sent;
  int n = 0;
  for (int i = 0; i < 4; i++) {
    size_t gone = skip < all[i].iov_len ? skip : all[i].iov_len;
    skip -= gone;
    if (all[i].iov_len > gone)
      parts[n++] = (struct iovec){(char *)all[i].iov_base + gone, all[i].iov_len - gone};
  }
  return n;
}

static int send_pending(rgi_daemon_client *l) {
  while (l->sending) {
    struct iovec parts[4];
    struct msghdr m = {.msg_iov = parts};
    int n = remaining_parts(l, l->sending, parts);
    m.msg_iovlen = (size_t)n;
    ssize_t k = n ? sendmsg(l->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (k < 0)
      return errno == EAGAIN || errno == EINTR;
    l->sent += (size_t)k;
    if (!n || !remaining_parts(l, l->sending, parts)) {
      l->sending->sent = 1;
      l->sending = l->sending->next;
      l->sent = 0;
    }
  }
  return 1;
}

/* --- receiving ------------------------------------------------------------------------------ */

/* Bytes; 0: none now; -1: the connection is broken. */
static ssize_t receive_bytes(rgi_daemon_client *l, char *to, size_t bytes) {
  ssize_t n = recv(l->fd, to, bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return 0;
  return n > 0 ? n : -1;
}

/* A buffer between: short answers come many at a time. */
static ssize_t take_bytes(rgi_daemon_client *l, char *to, size_t bytes) {
  if (l->begin == l->end) {
    if (bytes >= sizeof l->heard)
      return receive_bytes(l, to, bytes);
    ssize_t n = receive_bytes(l, l->heard, sizeof l->heard);
    if (n <= 0)
      return n;
    l->begin = 0;
    l->end = (size_t)n;
  }
  size_t n = l->end - l->begin < bytes ? l->end - l->begin : bytes;
  memcpy(to, l->heard + l->begin, n);
  l->begin += n;
  return (ssize_t)n;
}

/* Whether the oldest query has its answer; -1: the connection is broken. */
static int receive_answer(rgi_daemon_client *l) {
  rgi_daemon_client_query *o = l->first;
  uint64_t wanted = o ? rgi_query_answer_bytes(&o->query) : 0;
  if (!o || !o->sent)
    return 0;
  while (o->got < wanted) {
    ssize_t n = take_bytes(l, o->answer + o->got, wanted - o->got);
    if (n <= 0)
      return (int)n;
    o->got += (uint64_t)n;
  }
  return 1;
}

static rgi_daemon_client_query *pop_query(rgi_daemon_client *l) {
  rgi_daemon_client_query *o = l->first;
  if (o)
    l->first = o->next;
  return o;
}

rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *l) {
  if (l->fd < 0)
    return NULL;
  int heard = send_pending(l) ? receive_answer(l) : -1;
  if (heard < 0)
    break_connection(l);
  return heard > 0 ? pop_query(l) : NULL;
}

rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *l) {
  if (l->fd >= 0)
    break_connection(l);
  l->sending = NULL;
  return pop_query(l);
}

void rgi_daemon_client_send(rgi_daemon_client *l, rgi_daemon_client_query *o) {
  static char padding[8];
  o->next = NULL;
  if (l->first)
    l->last->next = o;
  else
    l->first = o;
  l->last = o;
  if (l->sending)
    return;
  l->sending = o;
  size_t data = o->data ? o->query.bytes : 0;
  struct iovec parts[4] = {
      {(void *)(uintptr_t)&o->query, sizeof o->query},
      {(void *)(uintptr_t)o->entries, ((size_t)o->query.dims + o->query.runs) * sizeof *o->entries},
      {(void *)(uintptr_t)o->data, data},
      {padding, -data % sizeof padding}};
  struct msghdr m = {.msg_iov = parts, .msg_iovlen = 4};
  ssize_t k = sendmsg(l->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  l->sent = k > 0 ? (size_t)k : 0;
  if (l->sent == sizeof o->query + parts[1].iov_len + data + parts[3].iov_len) {
    o->sent = 1;
    l->sending = NULL;
    l->sent = 0;
  }
}
