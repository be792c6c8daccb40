/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. One epoll descriptor stands for the listener, all connections and what the owner
 * adds. A connection goes through these states:
 *
 *   calling  Made by this node: tries the addresses of the other one in turn until one answers.
 *   silent   Made by the other side: no greeting has come yet, so its node is not known.
 *   up       Both sides have greeted: messages, each a frame and its data, go both ways.
 *   broken   Closed; freed at the end of the step.
 *
 * Greetings are exchanged because other programs may listen at an address that many machines have,
 * or connect with our port: a wrong key is no sign that a node is lost. A greeting as
 * RGI_OVERLAY_CLIENT makes the connection one of the server's. Two nodes that call each other at
 * the same time have two connections and may use either.
 *
 * Silent networks: the kernel's keep-alive probes and TCP_USER_TIMEOUT end a connection that has
 * had no answer for rgi_overlay.limit seconds. */
#include "noded/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "noded/overlay.h"

/* How long one address may take to answer, and all of a node's addresses together. */
#define ANSWER_SECONDS 3.0
#define CONNECT_SECONDS 15.0
#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)256 << 20) /* no message is longer */

typedef struct {
  uint32_t bytes, kind;
} message_frame;

struct rgi_connection {
  rgi_connection *next;
  int fd, node; /* node: -1 until it has greeted */
  int calling;  /* made from this side; the other one has not greeted yet */
  int up, broken;
  int address; /* the next one to try */
  double since, tried;
  rgi_buffer in, out;
};

static struct {
  rgi_overlay *overlay;
  rgi_connection_events events;
  rgi_connection *first;
  int poll, listener;
} connections = {.poll = -1, .listener = -1};

static int put_bytes(rgi_buffer *b, const void *data, size_t bytes) {
  char *at = rgi_buffer_room(b, bytes);
  if (at && bytes)
    memcpy(at, data, bytes);
  if (at)
    b->end += bytes;
  return at != NULL;
}

/* --- one connection -------------------------------------------------------------------------- */

static rgi_connection *new_connection(int fd, int node) {
  rgi_connection *l = calloc(1, sizeof *l);
  if (!l)
    return NULL;
  *l =
      (rgi_connection){.next = connections.first, .fd = fd, .node = node, .since = rgi_clock_now()};
  connections.first = l;
  return l;
}

static void listen_to(rgi_connection *l, uint32_t what, int operation) {
  struct epoll_event e = {.events = what, .data.fd = l->fd};
  epoll_ctl(connections.poll, operation, l->fd, &e);
}

static void close_socket(rgi_connection *l) {
  if (l->fd >= 0)
    close(l->fd);
  l->fd = -1;
}

/* The node is lost, unless the other side never was one of the job's nodes. */
static void break_connection(rgi_connection *l, const char *why) {
  int node = l->node, was = l->up || l->calling;
  if (l->broken)
    return;
  l->broken = 1;
  close_socket(l);
  if (node >= 0 && was)
    connections.events.lost(node, why);
}

static void set_options(int fd) {
  int on = 1, limit = (int)(1000 * connections.overlay->limit), third = limit / 3000;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (limit <= 0)
    return;
  third = third < 1 ? 1 : third;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &third, sizeof third);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &third, sizeof third);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

static void send_pending(rgi_connection *l) {
  if (!l->up)
    return;
  if (rgi_buffer_send(&l->out, l->fd))
    listen_to(l, EPOLLIN | (rgi_buffer_pending(&l->out) ? EPOLLOUT : 0), EPOLL_CTL_MOD);
  else
    break_connection(l, strerror(errno));
}

static void queue_message(rgi_connection *l, uint32_t kind, const void *data, size_t bytes) {
  message_frame f = {(uint32_t)bytes, kind};
  if (!put_bytes(&l->out, &f, sizeof f) || !put_bytes(&l->out, data, bytes))
    break_connection(l, "no memory");
  else
    send_pending(l);
}

/* --- connecting --------------------------------------------------------------------------- */

static int send_greeting(rgi_connection *l) {
  rgi_overlay_greeting g = {connections.overlay->key, connections.overlay->mine, l->node};
  return send(l->fd, &g, sizeof g, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof g;
}

/* After the last address comes the first one again. */
static void try_next_address(rgi_connection *l) {
  const rgi_overlay_node *n = &rgi_overlay_nodes(connections.overlay)[l->node];
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = n->port};
  close_socket(l);
  l->in.begin = l->in.end = 0;
  l->tried = rgi_clock_now();
  if (n->n == 0)
    return;
  to.sin_addr.s_addr = n->address[l->address++ % n->n];
  l->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (l->fd < 0)
    return;
  set_options(l->fd);
  if (connect(l->fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS)
    listen_to(l, EPOLLOUT, EPOLL_CTL_ADD);
  else
    close_socket(l);
}

static void finish_connecting(rgi_connection *l) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error || !send_greeting(l))
    close_socket(l); /* the next step tries the next address */
  else
    listen_to(l, EPOLLIN, EPOLL_CTL_MOD);
}

/* Daemons and clients greet as soon as they are connected. */
static void check_unanswered(rgi_connection *l) {
  double now = rgi_clock_now();
  if (l->up || l->broken)
    return;
  if (now - l->since > (l->calling ? CONNECT_SECONDS : ANSWER_SECONDS))
    break_connection(l, "it does not answer");
  else if (l->calling && now - l->tried > (l->fd < 0 ? 0.05 : ANSWER_SECONDS))
    try_next_address(l);
}

static void accept_all(void) {
  for (;;) {
    int fd = accept4(connections.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    rgi_connection *l = fd < 0 ? NULL : new_connection(fd, -1);
    if (fd >= 0 && !l)
      close(fd);
    if (!l)
      return;
    set_options(fd);
    listen_to(l, EPOLLIN, EPOLL_CTL_ADD);
  }
}

/* --- receiving ------------------------------------------------------------------------------ */

/* The server's from now on. TCP_USER_TIMEOUT would also end a connection whose client computes or
 * is stopped, and so reads no answers; the daemons' connections tell when the client's node is
 * lost. */
static void hand_over_client(rgi_connection *l) {
  int fd = l->fd, never = 0;
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &never, sizeof never);
  epoll_ctl(connections.poll, EPOLL_CTL_DEL, fd, NULL);
  l->fd = -1;
  l->broken = 1;
  connections.events.client(fd);
}

static void come_up(rgi_connection *l) {
  l->calling = 0;
  l->up = 1;
  send_pending(l);
  connections.events.up(l->node);
}

/* At that port another program may listen. */
static void receive_reply(rgi_connection *l, const rgi_overlay_greeting *g) {
  if (g->key == connections.overlay->key && g->to == connections.overlay->mine &&
      g->from == l->node)
    come_up(l);
  else
    close_socket(l);
}

static void receive_call(rgi_connection *l, const rgi_overlay_greeting *g) {
  int ours = g->key == connections.overlay->key && g->to == connections.overlay->mine;
  if (ours && g->from == RGI_OVERLAY_CLIENT && send_greeting(l)) {
    hand_over_client(l);
    return;
  }
  if (!ours || g->from < 0 || g->from >= connections.overlay->nodes) {
    break_connection(l, "a greeting");
    return;
  }
  l->node = g->from;
  if (send_greeting(l))
    come_up(l);
  else
    break_connection(l, "a greeting");
}

static void receive_greeting(rgi_connection *l) {
  rgi_overlay_greeting g;
  if (rgi_buffer_pending(&l->in) < sizeof g)
    return;
  memcpy(&g, l->in.data + l->in.begin, sizeof g);
  l->in.begin += sizeof g;
  (l->calling ? receive_reply : receive_call)(l, &g);
}

static void receive_messages(rgi_connection *l) {
  while (l->up && rgi_buffer_pending(&l->in) >= sizeof(message_frame)) {
    message_frame f;
    memcpy(&f, l->in.data + l->in.begin, sizeof f);
    if (f.bytes > MOST_BYTES) {
      break_connection(l, "a message that is too long");
      return;
    }
    if (rgi_buffer_pending(&l->in) < sizeof f + f.bytes)
      return;
    const char *data = l->in.data + l->in.begin + sizeof f;
    l->in.begin += sizeof f + f.bytes;
    connections.events.received(l->node, f.kind, data, f.bytes);
  }
}

static void receive_pending(rgi_connection *l) {
  while (!l->broken && l->fd >= 0) {
    char *at = rgi_buffer_room(&l->in, READ_BYTES);
    ssize_t n = at ? recv(l->fd, at, READ_BYTES, MSG_DONTWAIT) : -1;
    if (n < 0 && at && errno == EINTR)
      continue;
    if (n < 0 && at && errno == EAGAIN)
      return;
    if (n <= 0 && l->calling) {
      close_socket(l);
      return;
    }
    if (n <= 0) {
      break_connection(l, !at      ? "no memory"
                          : n == 0 ? "it has closed the connection"
                                   : strerror(errno));
      return;
    }
    l->in.end += (size_t)n;
    if (!l->up)
      receive_greeting(l);
    receive_messages(l);
  }
}

/* --- all connections ------------------------------------------------------------------------ */

static rgi_connection *find_connection(int fd) {
  rgi_connection *l = connections.first;
  while (l && l->fd != fd)
    l = l->next;
  return l;
}

static void forget_broken(void) {
  for (rgi_connection **at = &connections.first; *at;) {
    rgi_connection *l = *at;
    if (!l->broken) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    rgi_buffer_free(&l->in);
    rgi_buffer_free(&l->out);
    free(l);
  }
}

static void serve_event(const struct epoll_event *e) {
  rgi_connection *l = find_connection(e->data.fd);
  if (e->data.fd == connections.listener) {
    accept_all();
  } else if (l && l->calling && e->events & EPOLLOUT) {
    finish_connecting(l);
  } else if (l) {
    if (e->events & EPOLLOUT)
      send_pending(l);
    if (e->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
      receive_pending(l);
  }
}

int rgi_connections_open(rgi_overlay *overlay, int listener, const rgi_connection_events *events) {
  connections.overlay = overlay;
  connections.events = *events;
  connections.listener = listener;
  connections.poll = epoll_create1(EPOLL_CLOEXEC);
  if (connections.poll < 0)
    return 0;
  fcntl(listener, F_SETFL, O_NONBLOCK);
  rgi_connections_watch(listener);
  return 1;
}

void rgi_connections_close(void) {
  for (rgi_connection *l = connections.first; l; l = l->next) {
    l->broken = 1;
    close_socket(l);
  }
  forget_broken();
  if (connections.listener >= 0)
    close(connections.listener);
  if (connections.poll >= 0)
    close(connections.poll);
  connections.listener = connections.poll = -1;
}

int rgi_connections_fd(void) {
  return connections.poll;
}

void rgi_connections_watch(int fd) {
  struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(connections.poll, EPOLL_CTL_ADD, fd, &e);
}

void rgi_connections_watch_once(int fd) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
  epoll_ctl(connections.poll, EPOLL_CTL_ADD, fd, &e);
}

void rgi_connections_step(void) {
  struct epoll_event events[32];
  int n = epoll_wait(connections.poll, events, 32, 0);
  for (int i = 0; i < n; i++)
    serve_event(&events[i]);
  for (rgi_connection *l = connections.first; l; l = l->next)
    check_unanswered(l);
  forget_broken();
}

int rgi_connections_busy(void) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (!l->up || l->broken)
      return 1;
  return 0;
}

static rgi_connection *connection_to(int node) {
  rgi_connection *found = NULL;
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->node == node && !l->broken && (!found || l->up))
      found = l;
  return found;
}

void rgi_connection_make(int node) {
  rgi_connection *l = connection_to(node);
  if (l || !(l = new_connection(-1, node)))
    return;
  l->calling = 1;
  try_next_address(l);
}

int rgi_connection_is_up(int node) {
  rgi_connection *l = connection_to(node);
  return l && l->up;
}

void rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes) {
  rgi_connection_make(node);
  rgi_connection *l = connection_to(node);
  if (l)
    queue_message(l, kind, data, bytes);
}

void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->up && !l->broken && l->node != except)
      queue_message(l, kind, data, bytes);
}

void rgi_connection_drop(int node) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->node == node && !l->broken) {
      l->up = l->calling = 0;
      break_connection(l, "");
    }
}

int rgi_connections_flushed(void) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->up && rgi_buffer_pending(&l->out))
      return 0;
  return 1;
}
