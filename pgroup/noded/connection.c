/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. One epoll descriptor stands for the listener, all connections and what the owner
 * adds. A connection goes through these states:
 *
 *   CALLING  Made by this node (dial.h): the other one has not answered yet.
 *   SILENT   Made by the other side: no greeting has come yet, so its node is not known.
 *   UP       Both sides have greeted: messages, each a frame and its data, go both ways.
 *   BROKEN   Closed; freed at the end of the step.
 *
 * Greetings are exchanged because other programs may listen at an address that many machines have,
 * or connect with our port: a wrong key is no sign that a node is lost. A greeting as
 * RGI_OVERLAY_CLIENT makes the connection one of the server's. Two nodes that call each other at
 * the same time have two connections and may use either.
 *
 * Silent networks: the kernel ends a connection that has had no answer for rgi_overlay.limit
 * seconds (rgi_tcp_limit). */
#include "noded/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/dial.h"
#include "noded/overlay.h"
#include "noded/tcp.h"

#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)256 << 20) /* no message is longer */

typedef struct {
  uint32_t bytes, kind;
} message_frame;

typedef enum { CALLING, SILENT, UP, BROKEN } connection_state;

struct rgi_connection {
  rgi_connection *next;
  connection_state state;
  int node; /* -1 until it has greeted */
  double since;
  rgi_tcp tcp;
  rgi_dial dial; /* CALLING */
};

static struct {
  rgi_overlay *overlay;
  rgi_connection_events events;
  rgi_connection *first;
  int poll, listener;
} connections = {.poll = -1, .listener = -1};

/* --- one connection -------------------------------------------------------------------------- */

static rgi_connection *new_connection(connection_state state, int node) {
  rgi_connection *l = calloc(1, sizeof *l);
  if (!l)
    return NULL;
  *l = (rgi_connection){.next = connections.first,
                        .state = state,
                        .node = node,
                        .since = rgi_clock_now(),
                        .tcp = {.fd = -1}};
  connections.first = l;
  return l;
}

static uint32_t awaited_events(const rgi_connection *l) {
  if (l->state == CALLING)
    return rgi_dial_awaits(&l->dial) == POLLOUT ? EPOLLOUT : EPOLLIN;
  return EPOLLIN | (l->state == UP && rgi_buffer_pending(&l->tcp.out) ? EPOLLOUT : 0);
}

/* The socket may be a new one. */
static void watch_socket(rgi_connection *l) {
  struct epoll_event e = {.events = awaited_events(l), .data.fd = l->tcp.fd};
  if (l->tcp.fd >= 0 && epoll_ctl(connections.poll, EPOLL_CTL_MOD, l->tcp.fd, &e) != 0)
    epoll_ctl(connections.poll, EPOLL_CTL_ADD, l->tcp.fd, &e);
}

static void close_connection(rgi_connection *l) {
  l->state = BROKEN;
  rgi_tcp_close(&l->tcp);
}

/* The node is lost, unless the other side never was one of the job's nodes. */
static void break_connection(rgi_connection *l, const char *why) {
  connection_state was = l->state;
  close_connection(l);
  if (was == CALLING || was == UP)
    connections.events.lost(l->node, why);
}

static void send_pending(rgi_connection *l) {
  if (l->state != UP)
    return;
  if (rgi_tcp_push(&l->tcp))
    watch_socket(l);
  else
    break_connection(l, rgi_tcp_why(&l->tcp));
}

static void queue_message(rgi_connection *l, uint32_t kind, const void *data, size_t bytes) {
  message_frame f = {(uint32_t)bytes, kind};
  if (!rgi_tcp_queue(&l->tcp, &f, sizeof f) || !rgi_tcp_queue(&l->tcp, data, bytes))
    break_connection(l, rgi_tcp_why(&l->tcp));
  else
    send_pending(l);
}

/* --- greetings ---------------------------------------------------------------------------- */

static void come_up(rgi_connection *l) {
  l->state = UP;
  send_pending(l);
  if (l->state == UP)
    connections.events.up(l->node);
}

static void advance_call(rgi_connection *l) {
  if (rgi_dial_step(&l->dial, &l->tcp))
    come_up(l);
  else
    watch_socket(l);
}

static rgi_overlay_greeting greeting_to(int node) {
  return (rgi_overlay_greeting){connections.overlay->key, connections.overlay->mine, node};
}

/* Daemons and clients greet as soon as they are connected. */
static void check_unanswered(rgi_connection *l) {
  double waited = rgi_clock_now() - l->since;
  if ((l->state == CALLING && waited > RGI_DIAL_SECONDS) ||
      (l->state == SILENT && waited > RGI_DIAL_ANSWER_SECONDS))
    break_connection(l, "it does not answer");
  else if (l->state == CALLING)
    advance_call(l);
}

static void accept_all(void) {
  rgi_tcp tcp;
  while (rgi_tcp_accept(&tcp, connections.listener)) {
    rgi_connection *l = new_connection(SILENT, -1);
    if (!l) {
      rgi_tcp_close(&tcp);
      return;
    }
    l->tcp = tcp;
    rgi_tcp_limit(&l->tcp, connections.overlay->limit);
    watch_socket(l);
  }
}

/* The server's from now on. Its client may compute or be stopped, and so read no answers; the
 * daemons' connections tell when the client's node is lost. */
static void hand_over_client(rgi_connection *l) {
  int fd = l->tcp.fd;
  rgi_tcp_allow_unread(&l->tcp);
  epoll_ctl(connections.poll, EPOLL_CTL_DEL, fd, NULL);
  l->tcp.fd = -1;
  l->state = BROKEN;
  connections.events.client(fd);
}

static void receive_call(rgi_connection *l) {
  rgi_overlay_greeting g, mine;
  int came = rgi_tcp_take_greeting(&l->tcp, &g);
  if (came == 0)
    return;
  if (came < 0 || g.key != connections.overlay->key || g.to != connections.overlay->mine ||
      (g.from != RGI_OVERLAY_CLIENT && (g.from < 0 || g.from >= connections.overlay->nodes))) {
    close_connection(l);
    return;
  }
  mine = greeting_to(g.from);
  l->node = g.from;
  if (!rgi_tcp_greet(&l->tcp, &mine))
    close_connection(l);
  else if (g.from == RGI_OVERLAY_CLIENT)
    hand_over_client(l);
  else
    come_up(l);
}

/* --- messages ------------------------------------------------------------------------------- */

static void receive_messages(rgi_connection *l) {
  rgi_buffer *in = &l->tcp.in;
  while (l->state == UP && rgi_buffer_pending(in) >= sizeof(message_frame)) {
    message_frame f;
    memcpy(&f, in->data + in->begin, sizeof f);
    if (f.bytes > MOST_BYTES) {
      break_connection(l, "a message that is too long");
      return;
    }
    if (rgi_buffer_pending(in) < sizeof f + f.bytes)
      return;
    connections.events.received(l->node, f.kind, in->data + in->begin + sizeof f, f.bytes);
    if (l->state == UP)
      rgi_buffer_take(in, sizeof f + f.bytes);
  }
}

static void receive_pending(rgi_connection *l) {
  if (l->state == SILENT)
    receive_call(l);
  while (l->state == UP) {
    ssize_t n = rgi_tcp_pull(&l->tcp, READ_BYTES);
    if (n == 0)
      return;
    if (n < 0)
      break_connection(l, rgi_tcp_why(&l->tcp));
    receive_messages(l);
  }
}

/* --- all connections ------------------------------------------------------------------------ */

static rgi_connection *find_connection(int fd) {
  rgi_connection *l = connections.first;
  while (l && l->tcp.fd != fd)
    l = l->next;
  return l;
}

static void forget_broken(void) {
  for (rgi_connection **at = &connections.first; *at;) {
    rgi_connection *l = *at;
    if (l->state != BROKEN) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    rgi_tcp_free(&l->tcp);
    free(l);
  }
}

static void serve_event(const struct epoll_event *e) {
  rgi_connection *l = find_connection(e->data.fd);
  if (e->data.fd == connections.listener) {
    accept_all();
  } else if (l && l->state == CALLING) {
    advance_call(l);
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
  for (rgi_connection *l = connections.first; l; l = l->next)
    close_connection(l);
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
    if (l->state != UP)
      return 1;
  return 0;
}

static rgi_connection *connection_to(int node) {
  rgi_connection *found = NULL;
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->node == node && l->state != BROKEN && (!found || l->state == UP))
      found = l;
  return found;
}

void rgi_connection_make(int node) {
  rgi_connection *l = connection_to(node);
  if (l || !(l = new_connection(CALLING, node)))
    return;
  l->dial = (rgi_dial){.node = &rgi_overlay_nodes(connections.overlay)[node],
                       .greeting = greeting_to(node),
                       .limit = connections.overlay->limit};
  advance_call(l);
}

int rgi_connection_is_up(int node) {
  rgi_connection *l = connection_to(node);
  return l && l->state == UP;
}

void rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes) {
  rgi_connection_make(node);
  rgi_connection *l = connection_to(node);
  if (l)
    queue_message(l, kind, data, bytes);
}

void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->state == UP && l->node != except)
      queue_message(l, kind, data, bytes);
}

void rgi_connection_drop(int node) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->node == node)
      close_connection(l);
}

int rgi_connections_flushed(void) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->state == UP && rgi_buffer_pending(&l->tcp.out))
      return 0;
  return 1;
}
