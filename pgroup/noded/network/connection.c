/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. One epoll descriptor stands for the listener, all connections and what the owner
 * adds. A connection goes through these states:
 *
 *   DIALING   Made by this node (dial.h): the other one has not answered yet.
 *   STRANGER  Made by the other side, which has not proved yet who it is.
 *   UP        The greeting is done: messages, each a frame and its data, go both ways.
 *   BROKEN    Closed; freed at the end of the step.
 *
 * Both sides prove who they are (greeting.h), since other programs may listen at an address that
 * many machines have, or connect with our port: a wrong proof is no sign that a node is lost. A
 * call by RGI_OVERLAY_CLIENT makes the connection one of the server's, one by RGI_OVERLAY_GUARD is
 * answered and closed. Two nodes that dial each other at the same time come to have two
 * connections. Each sends on the one that has come up last: what it had sent before it sends again
 * then. The one that the lower node has dialled remains: when it is up the higher node closes its
 * own.
 *
 * Pings go out on a connection that is up, whatever else does: they tell each side when the other
 * one has last heard it, and whether it needs the connection. A node is needed for good (keep), or
 * as long as it has been asked for or sent messages lately (make). A side that does not need a
 * connection closes it when the other one does not need it either; then the other node is not
 * watched any more. So after a ballot its coordinator is connected with its neighbours again.
 * A connection on which nothing has come for a third of the limit is suspect: it does not count as
 * up, and a fresh one is dialled beside it, since TCP tries an old one again only after pauses as
 * long as the interruption was. When the fresh one is up the suspect one is closed.
 *
 * A node that is needed and has no connection is dialled without end: a broken connection,
 * an unreachable network, a lack of descriptors or memory are no deaths. Only a refusal at an
 * address where the node's daemon has answered before is told to the owner: a living host says that
 * no daemon listens there any more.
 *
 * The work of a step is in proportion to what has come. All connections and nodes are looked at
 * only when a ping is due (look_at_all).
 *
 * A process that was stopped does not hold its own silence against others: when a step comes late
 * all times are moved by the delay (forgive_delay). */
#include "noded/network/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/wire/descriptors.h"
#include "noded/wire/dial.h"
#include "noded/wire/overlay.h"
#include "noded/wire/tcp.h"

#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)256 << 20) /* no message is longer */

/* Kinds; the others are the owner's. The second one tells also that its sender needs the
 * connection. */
#define MESSAGE_PING 0u
#define MESSAGE_PING_NEEDED 3u

/* Parts of the limit: between pings; without anything received until a connection is suspect; how
 * late a step may be before this process counts as having been stopped. */
#define PING_PART 8
#define SUSPECT_PART 3
#define LATE_PART 4
#define PING_SECONDS 2.0    /* at most */
#define DIALING_SECONDS 0.1 /* between steps while a connection is being made */
#define STRANGERS 64        /* at a time, and one for each node */
#define ANSWER_PART 8       /* of the limit an address has for its answer, in redialling */
#define NEEDED_SECONDS 2.0  /* so long a node is needed after it was asked for */
#define LOOK_PART 16        /* of the time between pings, at least, between looks at all */

typedef struct {
  uint32_t bytes, kind;
} message_frame;

/* What a ping carries: the sender's clock, and what it last got from the other side's clock. */
typedef struct {
  double sent, echo;
} ping_clock;

typedef enum { DIALING, STRANGER, UP, BROKEN } connection_state;

struct rgi_connection {
  rgi_connection *next, *sibling; /* of all; of those with the same node */
  connection_state state;
  int node;         /* -1 until the greeting is done */
  int is_own;       /* this node has dialled it */
  uint64_t came_up; /* how many had before */
  int pinged_far;   /* the other side has sent a ping */
  int needed_far;   /* the other side needs it, as its last ping told */
  double since, received, pinged;
  rgi_tcp tcp;
  rgi_dial dial;         /* DIALING */
  rgi_greeting greeting; /* STRANGER */
};

/* What is known of a node. */
typedef struct {
  rgi_connection *first; /* of the connections with it */
  int kept, was_heard;
  double used;          /* when it was last asked for or sent a message; 0: long ago */
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
  uint64_t came_up;  /* how many connections have */
  int broken, dials; /* connections are to be freed; nodes may have to be dialled */
  double stepped, look_at;
} connections = {.poll = -1, .listener = -1};

/* --- times ------------------------------------------------------------------------------------ */

static double limit_part(int part) {
  return connections.overlay->limit / part;
}

double rgi_connections_ping_seconds(void) {
  double part = limit_part(PING_PART);
  return part > 0 && part < PING_SECONDS ? part : PING_SECONDS;
}

static int is_suspect(const rgi_connection *connection) {
  return connections.overlay->limit > 0 &&
         rgi_clock_now() - connection->received > limit_part(SUSPECT_PART);
}

static int is_needed(int node) {
  const peer_node *peer = &connections.nodes[node];
  return peer->kept || (peer->used > 0 && rgi_clock_now() - peer->used <= NEEDED_SECONDS);
}

/* All is looked at within so many seconds. */
static void look_within(double seconds) {
  double at = rgi_clock_now() + seconds;
  connections.look_at = at < connections.look_at ? at : connections.look_at;
}

static void note_received(rgi_connection *connection) {
  peer_node *peer = &connections.nodes[connection->node];
  connection->received = peer->heard = peer->direct = rgi_clock_now();
  peer->was_heard = 1;
}

static void forgive_delay(void) {
  double now = rgi_clock_now(),
         late = now - connections.stepped - rgi_connections_ping_seconds() / 2;
  if (connections.overlay->limit > 0 && connections.stepped > 0 && late > limit_part(LATE_PART)) {
    for (rgi_connection *connection = connections.first; connection; connection = connection->next)
      connection->received += late;
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
  rgi_connection *connection = calloc(1, sizeof *connection);
  double now = rgi_clock_now();
  if (!connection)
    return NULL;
  *connection = (rgi_connection){.next = connections.first,
                                 .state = state,
                                 .node = node,
                                 .since = now,
                                 .received = now,
                                 .pinged = now,
                                 .tcp = {.fd = -1}};
  connections.first = connection;
  look_within(DIALING_SECONDS);
  return connection;
}

static void join_siblings(rgi_connection *connection, int node) {
  connection->node = node;
  connection->sibling = connections.nodes[node].first;
  connections.nodes[node].first = connection;
}

static uint32_t awaited_events(const rgi_connection *connection) {
  if (connection->state == DIALING)
    return rgi_dial_awaits(&connection->dial) == POLLOUT ? EPOLLOUT : EPOLLIN;
  return EPOLLIN |
         (connection->state == UP && rgi_buffer_pending(&connection->tcp.out) ? EPOLLOUT : 0);
}

/* The socket may be a new one. */
static void watch_socket(rgi_connection *connection) {
  struct epoll_event event = {.events = awaited_events(connection), .data.ptr = connection};
  if (connection->tcp.fd >= 0 &&
      epoll_ctl(connections.poll, EPOLL_CTL_MOD, connection->tcp.fd, &event) != 0)
    epoll_ctl(connections.poll, EPOLL_CTL_ADD, connection->tcp.fd, &event);
}

/* The one that has come up last: what this node has to tell when one comes up goes there. */
static rgi_connection *connection_to(int node) {
  rgi_connection *found = NULL;
  for (rgi_connection *connection = connections.nodes[node].first; connection;
       connection = connection->sibling)
    if (connection->state == UP && !is_suspect(connection) &&
        (!found || connection->came_up > found->came_up))
      found = connection;
  return found;
}

static void close_connection(rgi_connection *connection) {
  if (connection->state == DIALING)
    connections.nodes[connection->node].dial = NULL;
  connection->state = BROKEN;
  connections.broken = 1;
  rgi_tcp_close(&connection->tcp);
}

/* A node that is not needed and has no connection is not watched. */
static void forget_node(int node) {
  peer_node *peer = &connections.nodes[node];
  peer->heard = peer->down = peer->direct = peer->used = 0;
  peer->was_heard = 0;
}

/* The node is dialled again in the same step if it is wanted. */
static void break_connection(rgi_connection *connection) {
  int was_up = connection->state == UP, node = connection->node;
  if (node >= 0)
    connections.nodes[node].error = connection->tcp.error;
  close_connection(connection);
  connections.dials = 1;
  if (!was_up)
    return;
  if (connection->needed_far || is_needed(node) || connection_to(node))
    connections.events.broken(node);
  else
    forget_node(node);
}

static void send_pending(rgi_connection *connection) {
  if (connection->state != UP)
    return;
  if (rgi_tcp_push(&connection->tcp))
    watch_socket(connection);
  else
    break_connection(connection);
}

static void queue_message(rgi_connection *connection, uint32_t kind, const void *data,
                          size_t bytes) {
  message_frame frame = {(uint32_t)bytes, kind};
  if (!rgi_tcp_queue(&connection->tcp, &frame, sizeof frame) ||
      !rgi_tcp_queue(&connection->tcp, data, bytes))
    break_connection(connection);
  else
    send_pending(connection);
}

static void send_ping(rgi_connection *connection) {
  ping_clock clock = {connection->pinged = rgi_clock_now(),
                      connections.nodes[connection->node].clock};
  uint32_t kind = is_needed(connection->node) ? MESSAGE_PING_NEEDED : MESSAGE_PING;
  queue_message(connection, kind, &clock, sizeof clock);
}

/* The other side learns that it is not needed before it sees the end. */
static void release_connection(rgi_connection *connection) {
  int node = connection->node;
  if (is_needed(node) || connection->needed_far)
    return;
  send_ping(connection);
  close_connection(connection);
  if (!connection_to(node))
    forget_node(node);
}

/* --- dialling --------------------------------------------------------------------------------- */

static void close_suspects(int node) {
  for (rgi_connection *connection = connections.nodes[node].first; connection;
       connection = connection->sibling)
    if (connection->state == UP && is_suspect(connection))
      break_connection(connection);
}

/* This node's own ones give way to the one that a lower node has dialled. */
static void close_own(const rgi_connection *lowers) {
  for (rgi_connection *connection = connections.nodes[lowers->node].first; connection;
       connection = connection->sibling)
    if (connection->is_own && connection->state != BROKEN)
      close_connection(connection);
}

static void come_up(rgi_connection *connection) {
  close_suspects(connection->node);
  if (connection->state == DIALING)
    connections.nodes[connection->node].dial = NULL;
  connection->state = UP;
  connection->came_up = ++connections.came_up;
  connection->needed_far = 1; /* until it tells */
  connections.nodes[connection->node].down = 0;
  note_received(connection);
  if (!connection->is_own && connection->node < connections.overlay->mine)
    close_own(connection);
  watch_socket(connection);
  send_ping(connection);
  if (connection->state == UP)
    connections.events.up(connection->node);
}

static void advance_dial(rgi_connection *connection) {
  peer_node *peer = &connections.nodes[connection->node];
  if (rgi_dial_step(&connection->dial, &connection->tcp)) {
    peer->proven = connection->dial.proven;
    come_up(connection);
    return;
  }
  peer->error = connection->tcp.error ? connection->tcp.error : peer->error;
  watch_socket(connection);
  if (connection->dial.refused) {
    connection->dial.refused = 0;
    connections.events.refused(connection->node);
  }
}

static void dial_node(int node) {
  peer_node *peer = &connections.nodes[node];
  double answer = limit_part(ANSWER_PART);
  if (connection_to(node))
    return;
  if (peer->down == 0) /* a call may have come up and failed while this node still dials */
    peer->down = peer->direct > 0 ? peer->direct : rgi_clock_now();
  if (peer->dial)
    return;
  rgi_connection *connection = new_connection(DIALING, -1);
  if (!connection)
    return;
  join_siblings(connection, node);
  connection->is_own = 1;
  peer->dial = connection;
  connection->dial = (rgi_dial){
      .node = &rgi_overlay_nodes(connections.overlay)[node],
      .key = connections.overlay->key,
      .from = connections.overlay->mine,
      .to = node,
      .limit = connections.overlay->limit,
      .answer = answer > 0 && answer < RGI_DIAL_ANSWER_SECONDS ? answer : RGI_DIAL_ANSWER_SECONDS,
      .proven = peer->proven};
  advance_dial(connection);
}

/* A node that is not needed any more is not dialled any more. */
static void dial_needed(void) {
  connections.dials = 0;
  for (int i = 0; i < connections.overlay->nodes; i++) {
    const peer_node *peer = &connections.nodes[i];
    if (is_needed(i))
      dial_node(i);
    else if (peer->used > 0 && peer->dial)
      close_connection(peer->dial);
    if (peer->used > 0 && !is_needed(i) && !connection_to(i))
      forget_node(i);
  }
}

/* --- calls by others -------------------------------------------------------------------------- */

/* The place of an address among those that a node has told; -1: it is none of them. */
static int find_address(int node, uint32_t address) {
  const rgi_overlay_node *record = &rgi_overlay_nodes(connections.overlay)[node];
  for (int i = 0; i < record->n; i++)
    if (record->address[i] == address)
      return i;
  return -1;
}

/* The oldest stranger makes room for a new one: so strangers take a limited number of descriptors,
 * and a daemon comes in all the same, for its greeting takes a moment only. */
static void limit_strangers(void) {
  rgi_connection *oldest = NULL;
  int n = 0;
  for (rgi_connection *connection = connections.first; connection; connection = connection->next)
    if (connection->state == STRANGER) {
      oldest = connection;
      n++;
    }
  if (n >= STRANGERS + connections.overlay->nodes)
    close_connection(oldest);
}

/* The listener may hear of addresses that are not meant for the job. */
static int is_meant(const rgi_tcp *tcp) {
  return find_address(connections.overlay->mine, rgi_tcp_own(tcp)) >= 0;
}

static void accept_all(void) {
  rgi_tcp tcp;
  while (rgi_tcp_accept(&tcp, connections.listener)) {
    if (!is_meant(&tcp)) {
      rgi_tcp_close(&tcp);
      continue;
    }
    limit_strangers();
    rgi_connection *connection = new_connection(STRANGER, -1);
    if (!connection) {
      rgi_tcp_close(&tcp);
      return;
    }
    connection->tcp = tcp;
    rgi_greeting_answer(&connection->greeting, connections.overlay->key, connections.overlay->mine,
                        connections.overlay->nodes);
    rgi_tcp_limit(&connection->tcp, connections.overlay->limit);
    watch_socket(connection);
  }
  if (rgi_descriptors_ran_out(errno)) {
    connections.events.crowded();
    rgi_descriptors_turn_away(connections.listener);
  }
}

/* The server's from now on. Its client may compute or be stopped, and so read no answers; the
 * daemons' connections tell when the client's node is lost. */
static void hand_over_client(rgi_connection *connection) {
  int fd = connection->tcp.fd;
  rgi_tcp_allow_unread(&connection->tcp);
  epoll_ctl(connections.poll, EPOLL_CTL_DEL, fd, NULL);
  connection->tcp.fd = -1;
  connection->state = BROKEN;
  connections.events.client(fd);
}

/* The address from which a node dials is one of those that it has told. */
static void note_address(const rgi_connection *connection) {
  int i = find_address(connection->node, rgi_tcp_peer(&connection->tcp));
  if (i >= 0)
    connections.nodes[connection->node].proven = i + 1;
}

static void receive_call(rgi_connection *connection) {
  int done = rgi_greeting_step(&connection->greeting, &connection->tcp);
  if (done < 0)
    close_connection(connection);
  if (done <= 0)
    return;
  if (connection->greeting.from == RGI_OVERLAY_CLIENT) {
    hand_over_client(connection);
  } else if (connection->greeting.from == RGI_OVERLAY_GUARD) {
    connections.events.guard(&connection->tcp);
    rgi_tcp_push(&connection->tcp);
    close_connection(connection);
  } else {
    join_siblings(connection, connection->greeting.from);
    note_address(connection);
    come_up(connection);
  }
}

/* --- messages ------------------------------------------------------------------------------- */

/* The first one on a connection is answered at once: from then on each side knows that the other
 * one has heard it. */
static void receive_ping(rgi_connection *connection, const void *data, size_t bytes) {
  peer_node *peer = &connections.nodes[connection->node];
  ping_clock clock;
  if (bytes != sizeof clock)
    return;
  memcpy(&clock, data, sizeof clock);
  int first = !connection->pinged_far;
  connection->pinged_far = 1;
  peer->clock = clock.sent > peer->clock ? clock.sent : peer->clock;
  peer->confirmed = clock.echo > peer->confirmed ? clock.echo : peer->confirmed;
  if (first)
    send_ping(connection);
}

static void receive_message(rgi_connection *connection, uint32_t kind, const void *data,
                            size_t bytes) {
  if (kind != MESSAGE_PING && kind != MESSAGE_PING_NEEDED) {
    connections.events.received(connection->node, kind, data, bytes);
    return;
  }
  connection->needed_far = kind == MESSAGE_PING_NEEDED;
  receive_ping(connection, data, bytes);
  if (connection->state == UP)
    release_connection(connection);
}

static void receive_messages(rgi_connection *connection) {
  rgi_buffer *in = &connection->tcp.in;
  while (connection->state == UP && rgi_buffer_pending(in) >= sizeof(message_frame)) {
    message_frame frame;
    memcpy(&frame, in->data + in->begin, sizeof frame);
    if (frame.bytes > MOST_BYTES) {
      break_connection(connection);
      return;
    }
    if (rgi_buffer_pending(in) < sizeof frame + frame.bytes)
      return;
    receive_message(connection, frame.kind, in->data + in->begin + sizeof frame, frame.bytes);
    if (connection->state == UP)
      rgi_buffer_take(in, sizeof frame + frame.bytes);
  }
}

static void receive_pending(rgi_connection *connection) {
  if (connection->state == STRANGER)
    receive_call(connection);
  while (connection->state == UP) {
    ssize_t n = rgi_tcp_pull(&connection->tcp, READ_BYTES);
    if (n == 0)
      return;
    if (n < 0) {
      break_connection(connection);
      return;
    }
    note_received(connection);
    receive_messages(connection);
  }
}

/* --- all connections ------------------------------------------------------------------------ */

static void leave_siblings(const rgi_connection *connection) {
  if (connection->node < 0)
    return;
  rgi_connection **at = &connections.nodes[connection->node].first;
  while (*at != connection)
    at = &(*at)->sibling;
  *at = connection->sibling;
}

static void forget_broken(void) {
  if (!connections.broken)
    return;
  connections.broken = 0;
  for (rgi_connection **at = &connections.first; *at;) {
    rgi_connection *connection = *at;
    if (connection->state != BROKEN) {
      at = &connection->next;
      continue;
    }
    *at = connection->next;
    leave_siblings(connection);
    rgi_tcp_free(&connection->tcp);
    free(connection);
  }
}

/* Of a connection, of the listener, or of what the owner watches (NULL). */
static void serve_event(const struct epoll_event *event) {
  rgi_connection *connection = event->data.ptr;
  if (event->data.ptr == &connections) {
    accept_all();
  } else if (connection && connection->state == DIALING) {
    advance_dial(connection);
  } else if (connection) {
    if (event->events & EPOLLOUT)
      send_pending(connection);
    if (event->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
      receive_pending(connection);
  }
}

/* How long nothing is to be done for it. */
static double advance_time(rgi_connection *connection) {
  double now = rgi_clock_now(), ping = rgi_connections_ping_seconds();
  if (connection->state == STRANGER && now - connection->since > RGI_DIAL_ANSWER_SECONDS)
    close_connection(connection);
  else if (connection->state == DIALING)
    advance_dial(connection);
  else if (connection->state == UP && now - connection->pinged >= ping)
    send_ping(connection);
  if (connection->state == UP)
    return connection->pinged + ping - now;
  return ping / 2 < DIALING_SECONDS ? ping / 2 : DIALING_SECONDS;
}

static void look_at_all(void) {
  double ping = rgi_connections_ping_seconds(), next = ping / 2;
  for (rgi_connection *connection = connections.first; connection; connection = connection->next) {
    double at = advance_time(connection);
    next = at < next ? at : next;
  }
  connections.dials = 1;
  connections.look_at = INFINITY;
  look_within(next > ping / LOOK_PART ? next : ping / LOOK_PART);
}

int rgi_connections_open(rgi_overlay *overlay, int listener, const rgi_connection_events *events) {
  connections.overlay = overlay;
  connections.events = *events;
  connections.listener = listener;
  connections.stepped = connections.look_at = 0;
  connections.nodes = calloc((size_t)overlay->nodes, sizeof *connections.nodes);
  connections.poll = epoll_create1(EPOLL_CLOEXEC);
  if (connections.poll < 0 || !connections.nodes)
    return 0;
  fcntl(listener, F_SETFL, O_NONBLOCK);
  rgi_descriptors_spare();
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections};
  epoll_ctl(connections.poll, EPOLL_CTL_ADD, listener, &event);
  return 1;
}

void rgi_connections_close(void) {
  for (rgi_connection *connection = connections.first; connection; connection = connection->next)
    close_connection(connection);
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
  double left = connections.look_at - rgi_clock_now();
  return left > 0 ? left : 0;
}

void rgi_connections_watch(int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(connections.poll, EPOLL_CTL_ADD, fd, &event);
}

void rgi_connections_watch_once(int fd) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = NULL};
  epoll_ctl(connections.poll, EPOLL_CTL_ADD, fd, &event);
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
  if (rgi_clock_now() >= connections.look_at)
    look_at_all();
  forget_broken();
  if (connections.dials)
    dial_needed();
}

/* --- the owner's calls ------------------------------------------------------------------------ */

static void begin_watching(int node) {
  peer_node *peer = &connections.nodes[node];
  peer->heard = peer->heard > 0 ? peer->heard : rgi_clock_now();
  dial_node(node);
}

void rgi_connection_make(int node) {
  int was_needed = is_needed(node);
  connections.nodes[node].used = rgi_clock_now();
  if (!was_needed)
    begin_watching(node);
}

void rgi_connection_keep(int node) {
  int was_needed = is_needed(node);
  connections.nodes[node].kept = 1;
  if (!was_needed)
    begin_watching(node);
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
  rgi_connection *connection = connection_to(node);
  if (connection)
    queue_message(connection, kind, data, bytes);
  return connection != NULL;
}

void rgi_connection_send_all(int except, uint32_t kind, const void *data, size_t bytes) {
  for (rgi_connection *connection = connections.first; connection; connection = connection->next)
    if (connection->state == UP && connection->node != except)
      queue_message(connection, kind, data, bytes);
}

void rgi_connection_drop(int node) {
  peer_node *peer = &connections.nodes[node];
  peer->kept = 0;
  peer->used = peer->down = 0;
  if (peer->dial)
    close_connection(peer->dial);
}

int rgi_connections_flushed(void) {
  for (rgi_connection *connection = connections.first; connection; connection = connection->next)
    if (connection->state == UP && rgi_buffer_pending(&connection->tcp.out))
      return 0;
  return 1;
}
