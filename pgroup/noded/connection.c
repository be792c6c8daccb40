/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. One epoll descriptor stands for the listener, all connections and what the owner
 * adds. A connection goes through these states:
 *
 *   DIALING   Made by this node (dial.h): the other one has not answered yet.
 *   STRANGER  Made by the other side, which has not proved yet who it is.
 *   UP        The handshake is done: messages, each a frame and its data, go both ways.
 *   BROKEN    Closed; freed at the end of the step.
 *
 * Both sides prove who they are (handshake.h), since other programs may listen at an address that
 * many machines have, or connect with our port: a wrong proof is no sign that a node is lost. A
 * call by RGI_OVERLAY_CLIENT makes the connection one of the server's. Two nodes that dial each
 * other at the same time have two connections and may use either.
 *
 * Pings go out on a connection that is up, whatever else does: they tell each side when the other
 * one has last heard it. A connection on which nothing has come for a third of the limit is
 * suspect: it does not count as up, and a fresh one is dialled beside it, since TCP tries an old
 * one again only after pauses as long as the interruption was. When the fresh one is up the suspect
 * one is closed.
 *
 * A node that is wanted (make) and has no connection is dialled without end: a broken connection,
 * an unreachable network, a lack of descriptors or memory are no deaths. Only a refusal at an
 * address where the node's daemon has answered before is told to the owner: a living host says that
 * no daemon listens there any more.
 *
 * A process that was stopped does not hold its own silence against others: when a step comes late
 * all times are moved by the delay (forgive_delay). */
#include "noded/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/descriptors.h"
#include "noded/dial.h"
#include "noded/overlay.h"
#include "noded/tcp.h"

#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)256 << 20) /* no message is longer */
#define MESSAGE_PING 0u                /* a kind; the others are the owner's */

/* Parts of the limit: between pings; without anything received until a connection is suspect; how
 * late a step may be before this process counts as having been stopped. */
#define PING_PART 8
#define SUSPECT_PART 3
#define LATE_PART 4
#define PING_SECONDS 0.5    /* at most */
#define DIALING_SECONDS 0.1 /* between steps while a connection is being made */
#define STRANGERS 64        /* at a time, and one for each node */
#define ANSWER_PART 8       /* of the limit an address has for its answer, in redialling */

typedef struct {
  uint32_t bytes, kind;
} message_frame;

/* What a ping carries: the sender's clock, and what it last got from the other side's clock. */
typedef struct {
  double sent, echo;
} ping_clock;

typedef enum { DIALING, STRANGER, UP, BROKEN } connection_state;

struct rgi_connection {
  rgi_connection *next;
  connection_state state;
  int node; /* -1 until the handshake is done */
  double since, received, pinged;
  rgi_tcp tcp;
  rgi_dial dial;           /* DIALING */
  rgi_handshake handshake; /* STRANGER */
};

/* What is known of a node. */
typedef struct {
  int wanted, was_heard;
  int proven;           /* an address where its daemon has answered, plus 1; 0: none */
  double heard, down;   /* rgi_connection_heard, rgi_connection_down_since */
  double direct;        /* when something last came on a connection; 0: never */
  double clock;         /* the other side's, as its last ping told; 0: none came */
  double confirmed;     /* rgi_connection_confirmed */
  int error;            /* of the last attempt: an errno; 0: closed by the other side */
  rgi_connection *dial; /* the attempt under way, or NULL */
} peer_node;

static struct {
  rgi_overlay *overlay;
  rgi_connection_events events;
  rgi_connection *first;
  peer_node *nodes;
  int poll, listener;
  double stepped;
} connections = {.poll = -1, .listener = -1};

/* --- times ------------------------------------------------------------------------------------ */

static double limit_part(int part) {
  return connections.overlay->limit / part;
}

double rgi_connections_ping_seconds(void) {
  double part = limit_part(PING_PART);
  return part > 0 && part < PING_SECONDS ? part : PING_SECONDS;
}

static int is_suspect(const rgi_connection *l) {
  return connections.overlay->limit > 0 && rgi_clock_now() - l->received > limit_part(SUSPECT_PART);
}

static void note_received(rgi_connection *l) {
  peer_node *n = &connections.nodes[l->node];
  l->received = n->heard = n->direct = rgi_clock_now();
  n->was_heard = 1;
}

static void forgive_delay(void) {
  double now = rgi_clock_now(), late = now - connections.stepped - rgi_connections_timeout();
  if (connections.overlay->limit > 0 && connections.stepped > 0 && late > limit_part(LATE_PART)) {
    for (rgi_connection *l = connections.first; l; l = l->next)
      l->received += late;
    for (int i = 0; i < connections.overlay->nodes; i++) {
      connections.nodes[i].heard += connections.nodes[i].heard > 0 ? late : 0;
      connections.nodes[i].down += connections.nodes[i].down > 0 ? late : 0;
      connections.nodes[i].direct += connections.nodes[i].direct > 0 ? late : 0;
    }
  }
  connections.stepped = now;
}

/* --- one connection -------------------------------------------------------------------------- */

static rgi_connection *new_connection(connection_state state, int node) {
  rgi_connection *l = calloc(1, sizeof *l);
  double now = rgi_clock_now();
  if (!l)
    return NULL;
  *l = (rgi_connection){.next = connections.first,
                        .state = state,
                        .node = node,
                        .since = now,
                        .received = now,
                        .pinged = now,
                        .tcp = {.fd = -1}};
  connections.first = l;
  return l;
}

static uint32_t awaited_events(const rgi_connection *l) {
  if (l->state == DIALING)
    return rgi_dial_awaits(&l->dial) == POLLOUT ? EPOLLOUT : EPOLLIN;
  return EPOLLIN | (l->state == UP && rgi_buffer_pending(&l->tcp.out) ? EPOLLOUT : 0);
}

/* The socket may be a new one. */
static void watch_socket(rgi_connection *l) {
  struct epoll_event e = {.events = awaited_events(l), .data.fd = l->tcp.fd};
  if (l->tcp.fd >= 0 && epoll_ctl(connections.poll, EPOLL_CTL_MOD, l->tcp.fd, &e) != 0)
    epoll_ctl(connections.poll, EPOLL_CTL_ADD, l->tcp.fd, &e);
}

static rgi_connection *connection_to(int node) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->node == node && l->state == UP && !is_suspect(l))
      return l;
  return NULL;
}

static void close_connection(rgi_connection *l) {
  if (l->state == DIALING)
    connections.nodes[l->node].dial = NULL;
  l->state = BROKEN;
  rgi_tcp_close(&l->tcp);
}

/* The node is dialled again in the same step if it is wanted. */
static void break_connection(rgi_connection *l) {
  int was_up = l->state == UP;
  if (l->node >= 0)
    connections.nodes[l->node].error = l->tcp.error;
  close_connection(l);
  if (was_up)
    connections.events.broken(l->node);
}

static void send_pending(rgi_connection *l) {
  if (l->state != UP)
    return;
  if (rgi_tcp_push(&l->tcp))
    watch_socket(l);
  else
    break_connection(l);
}

static void queue_message(rgi_connection *l, uint32_t kind, const void *data, size_t bytes) {
  message_frame f = {(uint32_t)bytes, kind};
  if (!rgi_tcp_queue(&l->tcp, &f, sizeof f) || !rgi_tcp_queue(&l->tcp, data, bytes))
    break_connection(l);
  else
    send_pending(l);
}

static void send_ping(rgi_connection *l) {
  ping_clock p = {l->pinged = rgi_clock_now(), connections.nodes[l->node].clock};
  queue_message(l, MESSAGE_PING, &p, sizeof p);
}

/* --- dialling --------------------------------------------------------------------------------- */

static void close_suspects(int node) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->node == node && l->state == UP && is_suspect(l))
      break_connection(l);
}

static void come_up(rgi_connection *l) {
  close_suspects(l->node);
  if (l->state == DIALING)
    connections.nodes[l->node].dial = NULL;
  l->state = UP;
  connections.nodes[l->node].down = 0;
  note_received(l);
  watch_socket(l);
  send_ping(l);
  if (l->state == UP)
    connections.events.up(l->node);
}

static void advance_dial(rgi_connection *l) {
  peer_node *n = &connections.nodes[l->node];
  if (rgi_dial_step(&l->dial, &l->tcp)) {
    n->proven = l->dial.proven;
    come_up(l);
    return;
  }
  n->error = l->tcp.error ? l->tcp.error : n->error;
  watch_socket(l);
  if (l->dial.refused) {
    l->dial.refused = 0;
    connections.events.refused(l->node);
  }
}

static void dial_node(int node) {
  peer_node *n = &connections.nodes[node];
  double answer = limit_part(ANSWER_PART);
  if (n->dial || connection_to(node))
    return;
  rgi_connection *l = new_connection(DIALING, node);
  if (!l)
    return;
  n->dial = l;
  if (n->down == 0)
    n->down = n->direct > 0 ? n->direct : rgi_clock_now();
  l->dial = (rgi_dial){
      .node = &rgi_overlay_nodes(connections.overlay)[node],
      .key = connections.overlay->key,
      .from = connections.overlay->mine,
      .to = node,
      .limit = connections.overlay->limit,
      .answer = answer > 0 && answer < RGI_DIAL_ANSWER_SECONDS ? answer : RGI_DIAL_ANSWER_SECONDS,
      .proven = n->proven};
  advance_dial(l);
}

static void dial_wanted(void) {
  for (int i = 0; i < connections.overlay->nodes; i++)
    if (connections.nodes[i].wanted)
      dial_node(i);
}

/* --- calls by others -------------------------------------------------------------------------- */

/* The place of an address among those that a node has told; -1: it is none of them. */
static int find_address(int node, uint32_t address) {
  const rgi_overlay_node *n = &rgi_overlay_nodes(connections.overlay)[node];
  for (int i = 0; i < n->n; i++)
    if (n->address[i] == address)
      return i;
  return -1;
}

/* The oldest stranger makes room for a new one: so strangers take a limited number of descriptors,
 * and a daemon comes in all the same, for its handshake takes a moment only. */
static void limit_strangers(void) {
  rgi_connection *oldest = NULL;
  int n = 0;
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->state == STRANGER) {
      oldest = l;
      n++;
    }
  if (n >= STRANGERS + connections.overlay->nodes)
    close_connection(oldest);
}

/* The listener may hear of addresses that are not meant for the job. */
static int is_meant(const rgi_tcp *t) {
  return find_address(connections.overlay->mine, rgi_tcp_own(t)) >= 0;
}

static void accept_all(void) {
  rgi_tcp tcp;
  while (rgi_tcp_accept(&tcp, connections.listener)) {
    if (!is_meant(&tcp)) {
      rgi_tcp_close(&tcp);
      continue;
    }
    limit_strangers();
    rgi_connection *l = new_connection(STRANGER, -1);
    if (!l) {
      rgi_tcp_close(&tcp);
      return;
    }
    l->tcp = tcp;
    rgi_handshake_answer(&l->handshake, connections.overlay->key, connections.overlay->mine,
                         connections.overlay->nodes);
    rgi_tcp_limit(&l->tcp, connections.overlay->limit);
    watch_socket(l);
  }
  if (rgi_descriptors_ran_out(errno)) {
    connections.events.crowded();
    rgi_descriptors_turn_away(connections.listener);
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

/* The address from which a node dials is one of those that it has told. */
static void note_address(const rgi_connection *l) {
  int i = find_address(l->node, rgi_tcp_peer(&l->tcp));
  if (i >= 0)
    connections.nodes[l->node].proven = i + 1;
}

static void receive_call(rgi_connection *l) {
  int done = rgi_handshake_step(&l->handshake, &l->tcp);
  if (done < 0)
    close_connection(l);
  if (done <= 0)
    return;
  if (l->handshake.from == RGI_OVERLAY_CLIENT) {
    hand_over_client(l);
  } else {
    l->node = l->handshake.from;
    note_address(l);
    come_up(l);
  }
}

/* --- messages ------------------------------------------------------------------------------- */

/* The first one is answered at once. */
static void receive_ping(rgi_connection *l, const void *data, size_t bytes) {
  peer_node *n = &connections.nodes[l->node];
  ping_clock p;
  if (bytes != sizeof p)
    return;
  memcpy(&p, data, sizeof p);
  int first = n->clock == 0;
  n->clock = p.sent > n->clock ? p.sent : n->clock;
  n->confirmed = p.echo > n->confirmed ? p.echo : n->confirmed;
  if (first)
    send_ping(l);
}

static void receive_message(rgi_connection *l, uint32_t kind, const void *data, size_t bytes) {
  if (kind == MESSAGE_PING)
    receive_ping(l, data, bytes);
  else
    connections.events.received(l->node, kind, data, bytes);
}

static void receive_messages(rgi_connection *l) {
  rgi_buffer *in = &l->tcp.in;
  while (l->state == UP && rgi_buffer_pending(in) >= sizeof(message_frame)) {
    message_frame f;
    memcpy(&f, in->data + in->begin, sizeof f);
    if (f.bytes > MOST_BYTES) {
      break_connection(l);
      return;
    }
    if (rgi_buffer_pending(in) < sizeof f + f.bytes)
      return;
    receive_message(l, f.kind, in->data + in->begin + sizeof f, f.bytes);
    if (l->state == UP)
      rgi_buffer_take(in, sizeof f + f.bytes);
  }
}

static void receive_pending(rgi_connection *l) {
  if (l->state == STRANGER)
    receive_call(l);
  while (l->state == UP) {
    ssize_t n = rgi_tcp_pull(&l->tcp, READ_BYTES);
    if (n == 0)
      return;
    if (n < 0) {
      break_connection(l);
      return;
    }
    note_received(l);
    receive_messages(l);
  }
}

/* --- all connections ------------------------------------------------------------------------ */

static rgi_connection *find_connection(int fd) {
  rgi_connection *l = connections.first;
  while (l && (l->state == BROKEN || l->tcp.fd != fd))
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
  } else if (l && l->state == DIALING) {
    advance_dial(l);
  } else if (l) {
    if (e->events & EPOLLOUT)
      send_pending(l);
    if (e->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
      receive_pending(l);
  }
}

static void advance_time(rgi_connection *l) {
  double now = rgi_clock_now();
  if (l->state == STRANGER && now - l->since > RGI_DIAL_ANSWER_SECONDS)
    close_connection(l);
  else if (l->state == DIALING)
    advance_dial(l);
  else if (l->state == UP && now - l->pinged >= rgi_connections_ping_seconds())
    send_ping(l);
}

int rgi_connections_open(rgi_overlay *overlay, int listener, const rgi_connection_events *events) {
  connections.overlay = overlay;
  connections.events = *events;
  connections.listener = listener;
  connections.stepped = 0;
  connections.nodes = calloc((size_t)overlay->nodes, sizeof *connections.nodes);
  connections.poll = epoll_create1(EPOLL_CLOEXEC);
  if (connections.poll < 0 || !connections.nodes)
    return 0;
  fcntl(listener, F_SETFL, O_NONBLOCK);
  rgi_descriptors_spare();
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
  free(connections.nodes);
  connections.nodes = NULL;
  connections.listener = connections.poll = -1;
}

int rgi_connections_fd(void) {
  return connections.poll;
}

double rgi_connections_timeout(void) {
  double ping = rgi_connections_ping_seconds() / 2;
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->state != UP)
      return ping < DIALING_SECONDS ? ping : DIALING_SECONDS;
  return ping;
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
  int n;
  forgive_delay();
  do {
    n = epoll_wait(connections.poll, events, 32, 0);
    for (int i = 0; i < n; i++)
      serve_event(&events[i]);
  } while (n == 32);
  for (rgi_connection *l = connections.first; l; l = l->next)
    advance_time(l);
  forget_broken();
  dial_wanted();
}

/* --- the owner's calls ------------------------------------------------------------------------ */

void rgi_connection_make(int node) {
  peer_node *n = &connections.nodes[node];
  if (n->wanted)
    return;
  n->wanted = 1;
  n->heard = n->heard > 0 ? n->heard : rgi_clock_now();
  dial_node(node);
}

int rgi_connection_is_up(int node) {
  return connection_to(node) != NULL;
}

double rgi_connection_down_since(int node) {
  double down = connections.nodes[node].down;
  return down > 0 && !connection_to(node) ? down : 0;
}

double rgi_connection_heard(int node) {
  return connections.nodes[node].heard;
}

double rgi_connection_confirmed(int node) {
  return connections.nodes[node].confirmed;
}

void rgi_connection_note_heard(int node) {
  connections.nodes[node].heard = rgi_clock_now();
  connections.nodes[node].was_heard = 1;
}

int rgi_connection_was_heard(int node) {
  return connections.nodes[node].was_heard;
}

const char *rgi_connection_why(int node) {
  int error = connections.nodes[node].error;
  return error ? strerror(error) : "it does not answer";
}

int rgi_connection_send(int node, uint32_t kind, const void *data, size_t bytes) {
  rgi_connection *l = connection_to(node);
  if (l)
    queue_message(l, kind, data, bytes);
  return l != NULL;
}

void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->state == UP && l->node != except)
      queue_message(l, kind, data, bytes);
}

void rgi_connection_drop(int node) {
  peer_node *n = &connections.nodes[node];
  n->wanted = 0;
  n->down = 0;
  if (n->dial)
    close_connection(n->dial);
}

int rgi_connections_flushed(void) {
  for (rgi_connection *l = connections.first; l; l = l->next)
    if (l->state == UP && rgi_buffer_pending(&l->tcp.out))
      return 0;
  return 1;
}
