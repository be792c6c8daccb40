/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/line.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/pause.h"
#include "noded/link.h"
#include "noded/mesh.h"
#include "shm/process.h"

#define ANSWER_SECONDS 3.0
#define OPEN_SECONDS 15.0

int rgi_line_gone(rgi_line *l) {
  rgi_mesh *m = rgi_mesh_here();
  int deaths = rgi_deaths();
  if (deaths == l->deaths)
    return l->gone;
  l->deaths = deaths;
  for (int i = 0; i < m->world; i++)
    if (rgi_mesh_of(m)[i] == l->node && !rgi_is_dead(i))
      return 0;
  return l->gone = 1;
}

/* --- connecting ------------------------------------------------------------------------- */

/* Whether the descriptor becomes ready in time. */
static int await(rgi_line *l, int fd, short what) {
  struct pollfd p = {fd, what, 0};
  for (double end = rgi_now() + ANSWER_SECONDS; rgi_now() < end && !rgi_line_gone(l);)
    if (poll(&p, 1, 10) > 0)
      return 1;
  return 0;
}

static int dial(rgi_line *l, uint32_t address, uint16_t port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = address};
  int on = 1, error = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof error;
  if (fd < 0)
    return -1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ||
      (errno == EINPROGRESS && await(l, fd, POLLOUT) &&
       getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error))
    return fd;
  close(fd);
  return -1;
}

/* The port may be somebody else's, at an address that many machines have. */
static int greet(rgi_line *l, int fd) {
  uint64_t key = rgi_mesh_here()->key;
  rgi_greeting mine = {key, RGI_GUEST, l->node}, theirs;
  return send(fd, &mine, sizeof mine, MSG_NOSIGNAL) == (ssize_t)sizeof mine &&
         await(l, fd, POLLIN) && recv(fd, &theirs, sizeof theirs, 0) == (ssize_t)sizeof theirs &&
         theirs.key == key && theirs.from == l->node;
}

static int try_address(rgi_line *l, const rgi_mesh_node *n, int which) {
  int fd = dial(l, n->address[which], n->port);
  if (fd >= 0 && greet(l, fd)) {
    l->fd = fd;
    return 1;
  }
  if (fd >= 0)
    close(fd);
  return 0;
}

int rgi_line_open(rgi_line *l) {
  const rgi_mesh_node *n = &rgi_mesh_nodes(rgi_mesh_here())[l->node];
  if (l->fd >= 0)
    return 1;
  for (double end = rgi_now() + OPEN_SECONDS; !l->broken && !rgi_line_gone(l) && rgi_now() < end;
       rgi_sleep(0.01))
    for (int i = 0; i < n->n && !rgi_line_gone(l); i++)
      if (try_address(l, n, i))
        return 1;
  l->broken = l->broken > 0 ? l->broken : rgi_now();
  return 0;
}

void rgi_line_close(rgi_line *l) {
  if (l->fd >= 0)
    close(l->fd);
  l->fd = -1;
}

static void breaks(rgi_line *l) {
  rgi_line_close(l);
  l->broken = rgi_now();
}

/* --- sending ------------------------------------------------------------------------------ */

/* What is left of a question. */
static int rest(const rgi_line *l, const rgi_line_op *o, struct iovec parts[4]) {
  static char padding[8];
  uint64_t data = rgi_ask_data(&o->ask), bytes = data ? o->ask.bytes : 0;
  const struct iovec all[4] = {
      {(void *)(uintptr_t)&o->ask, sizeof o->ask},
      {(void *)(uintptr_t)o->rows, ((size_t)o->ask.dims + o->ask.runs) * sizeof *o->rows},
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

static int push_out(rgi_line *l) {
  while (l->sending) {
    struct iovec parts[4];
    struct msghdr m = {.msg_iov = parts};
    int n = rest(l, l->sending, parts);
    m.msg_iovlen = (size_t)n;
    ssize_t k = n ? sendmsg(l->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (k < 0)
      return errno == EAGAIN || errno == EINTR;
    l->sent += (size_t)k;
    if (!n || !rest(l, l->sending, parts)) {
      l->sending->sent = 1;
      l->sending = l->sending->next;
      l->sent = 0;
    }
  }
  return 1;
}

/* --- receiving ------------------------------------------------------------------------------ */

/* Bytes; 0: none now; -1: the connection is broken. */
static ssize_t receive(rgi_line *l, char *to, size_t bytes) {
  ssize_t n = recv(l->fd, to, bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return 0;
  return n > 0 ? n : -1;
}

/* Short answers come many at a time. */
static ssize_t take(rgi_line *l, char *to, size_t bytes) {
  if (l->begin == l->end) {
    if (bytes >= sizeof l->heard)
      return receive(l, to, bytes);
    ssize_t n = receive(l, l->heard, sizeof l->heard);
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

/* Whether the oldest question has its answer; -1: the connection is broken. */
static int pull_in(rgi_line *l) {
  rgi_line_op *o = l->first;
  uint64_t wanted = o ? rgi_ask_answer(&o->ask) : 0;
  if (!o || !o->sent)
    return 0;
  while (o->got < wanted) {
    ssize_t n = take(l, o->answer + o->got, wanted - o->got);
    if (n <= 0)
      return (int)n;
    o->got += (uint64_t)n;
  }
  return 1;
}

static rgi_line_op *pop(rgi_line *l) {
  rgi_line_op *o = l->first;
  if (o)
    l->first = o->next;
  return o;
}

rgi_line_op *rgi_line_step(rgi_line *l) {
  if (l->fd < 0)
    return NULL;
  int heard = push_out(l) ? pull_in(l) : -1;
  if (heard < 0)
    breaks(l);
  return heard > 0 ? pop(l) : NULL;
}

rgi_line_op *rgi_line_give_up(rgi_line *l) {
  if (l->fd >= 0)
    breaks(l);
  l->sending = NULL;
  return pop(l);
}

void rgi_line_queue(rgi_line *l, rgi_line_op *o) {
  o->next = NULL;
  if (l->first)
    l->last->next = o;
  else
    l->first = o;
  l->last = o;
  if (!l->sending)
    l->sending = o;
}
