/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/link.h"

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
#include "base/pause.h"
#include "noded/mesh.h"

/* How long an address may take to answer before the next one is tried, and all of them
 * together. */
#define ANSWER_SECONDS 3.0
#define CALL_SECONDS 15.0
#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)256 << 20) /* a longer message is nonsense */

typedef struct {
  uint32_t bytes, kind;
} frame;

struct rgi_link {
  rgi_link *next;
  int fd, node; /* node: -1 until it has greeted */
  int calling;  /* made from this side, and not greeted yet */
  int up, broken;
  int address; /* that is tried */
  double since, tried;
  rgi_buffer in, out;
};

static struct {
  rgi_mesh *mesh;
  rgi_link_events events;
  rgi_link *first;
  int poll, listener;
} links = {.poll = -1, .listener = -1};

static int put(rgi_buffer *b, const void *data, size_t bytes) {
  char *at = rgi_buffer_room(b, bytes);
  if (at && bytes)
    memcpy(at, data, bytes);
  if (at)
    b->end += bytes;
  return at != NULL;
}

/* --- one link -------------------------------------------------------------------------- */

static rgi_link *new_link(int fd, int node) {
  rgi_link *l = calloc(1, sizeof *l);
  if (!l)
    return NULL;
  *l = (rgi_link){.next = links.first, .fd = fd, .node = node, .since = rgi_now()};
  links.first = l;
  return l;
}

static void listen_to(rgi_link *l, uint32_t what, int operation) {
  struct epoll_event e = {.events = what, .data.fd = l->fd};
  epoll_ctl(links.poll, operation, l->fd, &e);
}

static void hang_up(rgi_link *l) {
  if (l->fd >= 0)
    close(l->fd);
  l->fd = -1;
}

/* The node is lost, unless it was a stranger, or one that has only been called wrongly. */
static void break_link(rgi_link *l, const char *why) {
  int node = l->node, was = l->up || l->calling;
  if (l->broken)
    return;
  l->broken = 1;
  hang_up(l);
  if (node >= 0 && was)
    links.events.lost(node, why);
}

static void set_options(int fd) {
  int on = 1, limit = (int)(1000 * links.mesh->limit), third = limit / 3000;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (limit <= 0)
    return;
  third = third < 1 ? 1 : third;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &third, sizeof third);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &third, sizeof third);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

static void push_out(rgi_link *l) {
  if (!l->up)
    return;
  if (rgi_buffer_send(&l->out, l->fd))
    listen_to(l, EPOLLIN | (rgi_buffer_has(&l->out) ? EPOLLOUT : 0), EPOLL_CTL_MOD);
  else
    break_link(l, strerror(errno));
}

static void queue(rgi_link *l, uint32_t kind, const void *data, size_t bytes) {
  frame f = {(uint32_t)bytes, kind};
  if (!put(&l->out, &f, sizeof f) || !put(&l->out, data, bytes))
    break_link(l, "no memory");
  else
    push_out(l);
}

/* --- calling --------------------------------------------------------------------------- */

static int greet(rgi_link *l) {
  rgi_greeting g = {links.mesh->key, links.mesh->mine, l->node};
  return send(l->fd, &g, sizeof g, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof g;
}

/* Tries the node's next address, around and around. */
static void dial(rgi_link *l) {
  const rgi_mesh_node *n = &rgi_mesh_nodes(links.mesh)[l->node];
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = n->port};
  hang_up(l);
  l->in.begin = l->in.end = 0;
  l->tried = rgi_now();
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
    hang_up(l);
}

static void connected(rgi_link *l) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error || !greet(l))
    hang_up(l); /* the next address, soon */
  else
    listen_to(l, EPOLLIN, EPOLL_CTL_MOD);
}

/* Whoever has something to do here greets at once. */
static void look_at_silent(rgi_link *l) {
  double now = rgi_now();
  if (l->up || l->broken)
    return;
  if (now - l->since > (l->calling ? CALL_SECONDS : ANSWER_SECONDS))
    break_link(l, "it does not answer");
  else if (l->calling && now - l->tried > (l->fd < 0 ? 0.05 : ANSWER_SECONDS))
    dial(l);
}

static void accept_all(void) {
  for (;;) {
    int fd = accept4(links.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    rgi_link *l = fd < 0 ? NULL : new_link(fd, -1);
    if (fd >= 0 && !l)
      close(fd);
    if (!l)
      return;
    set_options(fd);
    listen_to(l, EPOLLIN, EPOLL_CTL_ADD);
  }
}

/* --- hearing ------------------------------------------------------------------------------ */

/* It is none of ours. A guest that computes, or is stopped, does not take its answers: the kernel
 * would count that, too, though the other one answers. Links tell of its node's end. */
static void pass_on(rgi_link *l) {
  int fd = l->fd, never = 0;
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &never, sizeof never);
  epoll_ctl(links.poll, EPOLL_CTL_DEL, fd, NULL);
  l->fd = -1;
  l->broken = 1;
  links.events.guest(fd);
}

static void come_up(rgi_link *l) {
  l->calling = 0;
  l->up = 1;
  push_out(l);
  links.events.up(l->node);
}

/* Of whom this node has called; another one may listen at that port. */
static void hear_answer(rgi_link *l, const rgi_greeting *g) {
  if (g->key == links.mesh->key && g->to == links.mesh->mine && g->from == l->node)
    come_up(l);
  else
    hang_up(l);
}

static void hear_caller(rgi_link *l, const rgi_greeting *g) {
  int ours = g->key == links.mesh->key && g->to == links.mesh->mine;
  if (ours && g->from == RGI_GUEST && greet(l)) {
    pass_on(l);
    return;
  }
  if (!ours || g->from < 0 || g->from >= links.mesh->nodes) {
    break_link(l, "a greeting");
    return;
  }
  l->node = g->from;
  if (greet(l))
    come_up(l);
  else
    break_link(l, "a greeting");
}

static void hear_greeting(rgi_link *l) {
  rgi_greeting g;
  if (rgi_buffer_has(&l->in) < sizeof g)
    return;
  memcpy(&g, l->in.data + l->in.begin, sizeof g);
  l->in.begin += sizeof g;
  (l->calling ? hear_answer : hear_caller)(l, &g);
}

static void hear_messages(rgi_link *l) {
  while (l->up && rgi_buffer_has(&l->in) >= sizeof(frame)) {
    frame f;
    memcpy(&f, l->in.data + l->in.begin, sizeof f);
    if (f.bytes > MOST_BYTES) {
      break_link(l, "a message that makes no sense");
      return;
    }
    if (rgi_buffer_has(&l->in) < sizeof f + f.bytes)
      return;
    const char *data = l->in.data + l->in.begin + sizeof f;
    l->in.begin += sizeof f + f.bytes;
    links.events.heard(l->node, f.kind, data, f.bytes);
  }
}

static void pull_in(rgi_link *l) {
  while (!l->broken && l->fd >= 0) {
    char *at = rgi_buffer_room(&l->in, READ_BYTES);
    ssize_t n = at ? recv(l->fd, at, READ_BYTES, MSG_DONTWAIT) : -1;
    if (n < 0 && at && errno == EINTR)
      continue;
    if (n < 0 && at && errno == EAGAIN)
      return;
    if (n <= 0 && l->calling) {
      hang_up(l);
      return;
    }
    if (n <= 0) {
      break_link(l, !at ? "no memory" : n == 0 ? "it has closed the connection" : strerror(errno));
      return;
    }
    l->in.end += (size_t)n;
    if (!l->up)
      hear_greeting(l);
    hear_messages(l);
  }
}

/* --- all links ---------------------------------------------------------------------------- */

static rgi_link *find(int fd) {
  rgi_link *l = links.first;
  while (l && l->fd != fd)
    l = l->next;
  return l;
}

static void forget_broken(void) {
  for (rgi_link **at = &links.first; *at;) {
    rgi_link *l = *at;
    if (!l->broken) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    rgi_buffer_empty(&l->in);
    rgi_buffer_empty(&l->out);
    free(l);
  }
}

static void serve(const struct epoll_event *e) {
  rgi_link *l = find(e->data.fd);
  if (e->data.fd == links.listener) {
    accept_all();
  } else if (l && l->calling && e->events & EPOLLOUT) {
    connected(l);
  } else if (l) {
    if (e->events & EPOLLOUT)
      push_out(l);
    if (e->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
      pull_in(l);
  }
}

int rgi_links_open(rgi_mesh *mesh, int listener, const rgi_link_events *events) {
  links.mesh = mesh;
  links.events = *events;
  links.listener = listener;
  links.poll = epoll_create1(EPOLL_CLOEXEC);
  if (links.poll < 0)
    return 0;
  fcntl(listener, F_SETFL, O_NONBLOCK);
  rgi_links_watch(listener);
  return 1;
}

void rgi_links_close(void) {
  for (rgi_link *l = links.first; l; l = l->next) {
    l->broken = 1;
    hang_up(l);
  }
  forget_broken();
  if (links.listener >= 0)
    close(links.listener);
  if (links.poll >= 0)
    close(links.poll);
  links.listener = links.poll = -1;
}

int rgi_links_fd(void) {
  return links.poll;
}

void rgi_links_watch(int fd) {
  struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(links.poll, EPOLL_CTL_ADD, fd, &e);
}

void rgi_links_watch_once(int fd) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
  epoll_ctl(links.poll, EPOLL_CTL_ADD, fd, &e);
}

void rgi_links_step(void) {
  struct epoll_event events[32];
  int n = epoll_wait(links.poll, events, 32, 0);
  for (int i = 0; i < n; i++)
    serve(&events[i]);
  for (rgi_link *l = links.first; l; l = l->next)
    look_at_silent(l);
  forget_broken();
}

int rgi_links_busy(void) {
  for (rgi_link *l = links.first; l; l = l->next)
    if (!l->up || l->broken)
      return 1;
  return 0;
}

static rgi_link *link_to(int node) {
  rgi_link *found = NULL;
  for (rgi_link *l = links.first; l; l = l->next)
    if (l->node == node && !l->broken && (!found || l->up))
      found = l;
  return found;
}

void rgi_link_call(int node) {
  rgi_link *l = link_to(node);
  if (l || !(l = new_link(-1, node)))
    return;
  l->calling = 1;
  dial(l);
}

int rgi_link_is_up(int node) {
  rgi_link *l = link_to(node);
  return l && l->up;
}

void rgi_link_send(int node, uint32_t kind, const void *data, size_t bytes) {
  rgi_link_call(node);
  rgi_link *l = link_to(node);
  if (l)
    queue(l, kind, data, bytes);
}

void rgi_link_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (rgi_link *l = links.first; l; l = l->next)
    if (l->up && !l->broken && l->node != except)
      queue(l, kind, data, bytes);
}

void rgi_link_drop(int node) {
  for (rgi_link *l = links.first; l; l = l->next)
    if (l->node == node && !l->broken) {
      l->up = l->calling = 0;
      break_link(l, "");
    }
}

int rgi_links_flushed(void) {
  for (rgi_link *l = links.first; l; l = l->next)
    if (l->up && rgi_buffer_has(&l->out))
      return 0;
  return 1;
}
