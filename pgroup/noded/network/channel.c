/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. Each message of a channel has a number. The receiver takes the next one only, and
 * acknowledges it with its own next message or, at the latest, after ACK_SECONDS. The sender keeps
 * a message until it is acknowledged.
 *
 * Ways. A connection that is up is used. While one is being made the message waits for it, for
 * DIAL_SECONDS at most. After that it is relayed: it goes to all neighbours, and each daemon that
 * sees it for the first time passes it on to all of its own, until it reaches its node. Relayed
 * messages have serial numbers by which a daemon knows those that it has seen; it passes only newer
 * ones on, so some may be lost where ways differ in length. All that is not acknowledged is sent
 * again every REPEAT_SECONDS (where there is a connection, after LATE_SECONDS), and when a
 * connection with the node comes up or breaks. */
#include "noded/network/channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "noded/network/connection.h"

#define ACK_SECONDS 0.05
#define REPEAT_SECONDS 0.25
#define LATE_SECONDS                                                                               \
  1.0 /* the same where there is a connection: it should have been acknowledged */
#define DIAL_SECONDS 0.5
#define RELAYED_AT_ONCE 4 /* messages of one channel that are under way by relays */

typedef struct {
  int32_t from, to;
  uint64_t number, taken; /* of the message, 0: only an acknowledgement; all up to here came */
  uint64_t serial;        /* of a relayed message; 0: it came straight */
  uint32_t kind, unused;
} channel_head;

typedef struct sent_message {
  struct sent_message *next;
  size_t bytes; /* with the head */
  channel_head head;
} sent_message;

typedef struct {
  sent_message *first, *last; /* not acknowledged */
  uint64_t numbered, taken;   /* of the last message sent; of the last one received */
  uint64_t seen;              /* the newest serial number from this node */
  double repeated;            /* when all were last sent */
  double owed;                /* since when an acknowledgement is; 0: none is */
  int dropped;
  int busy; /* first or owed is set */
} peer_channel;

static struct {
  const rgi_overlay *overlay;
  rgi_channel_receiver *receiver;
  peer_channel *peers;
  uint64_t serial;
  int busy; /* how many of the peers are */
} channels;

/* --- sending ---------------------------------------------------------------------------------- */

static int can_relay(int node) {
  double down = rgi_connection_down_since(node);
  return down > 0 && rgi_clock_now() - down > DIAL_SECONDS && !rgi_connection_is_up(node);
}

/* After each change of what a channel waits for. */
static void note_busy(peer_channel *p) {
  int busy = p->first || p->owed > 0;
  channels.busy += busy - p->busy;
  p->busy = busy;
}

/* The head is followed by its data. */
static void relay_message(channel_head *h, size_t bytes, int except) {
  rgi_connection_send_all(except, RGI_CHANNEL_MESSAGE, h, bytes);
}

static void send_message(int node, channel_head *h, size_t bytes) {
  peer_channel *p = &channels.peers[node];
  h->taken = p->taken;
  h->serial = 0;
  rgi_connection_make(node);
  if (!rgi_connection_send(node, RGI_CHANNEL_MESSAGE, h, bytes)) {
    if (!can_relay(node))
      return;
    h->serial = ++channels.serial;
    relay_message(h, bytes, -1);
  }
  p->owed = 0;
  note_busy(p);
}

static void send_all(int node) {
  peer_channel *p = &channels.peers[node];
  int relayed = !rgi_connection_is_up(node), n = 0;
  p->repeated = rgi_clock_now();
  for (sent_message *m = p->first; m && (!relayed || n++ < RELAYED_AT_ONCE); m = m->next)
    send_message(node, &m->head, m->bytes);
}

void rgi_channel_send(int node, uint32_t kind, const void *data, size_t bytes) {
  peer_channel *p = &channels.peers[node];
  sent_message *m = p->dropped ? NULL : malloc(sizeof *m + bytes);
  if (!m)
    return;
  *m = (sent_message){
      .bytes = sizeof m->head + bytes,
      .head = {.from = channels.overlay->mine, .to = node, .number = ++p->numbered, .kind = kind}};
  if (bytes)
    memcpy(&m->head + 1, data, bytes);
  if (p->first) {
    p->last->next = m;
  } else {
    p->first = m;
    p->repeated = rgi_clock_now();
  }
  p->last = m;
  note_busy(p);
  send_message(node, &m->head, m->bytes);
}

int rgi_channel_is_idle(int node) {
  return !channels.peers[node].first;
}

void rgi_channel_probe(int node) {
  if (rgi_channel_is_idle(node))
    rgi_channel_send(node, RGI_CHANNEL_PROBE, NULL, 0);
}

static void acknowledge(int node) {
  channel_head h = {.from = channels.overlay->mine, .to = node};
  send_message(node, &h, sizeof h);
}

/* --- receiving -------------------------------------------------------------------------------- */

static void forget_taken(peer_channel *p, uint64_t taken) {
  while (p->first && p->first->head.number <= taken) {
    sent_message *m = p->first;
    p->first = m->next;
    free(m);
  }
  note_busy(p);
}

static void take_message(const channel_head *h, size_t bytes) {
  peer_channel *p = &channels.peers[h->from];
  rgi_connection_note_heard(h->from);
  forget_taken(p, h->taken);
  if (h->number == 0)
    return;
  p->owed = p->owed > 0 ? p->owed : rgi_clock_now();
  note_busy(p);
  if (h->number != p->taken + 1)
    return;
  p->taken++;
  if (h->kind != RGI_CHANNEL_PROBE)
    channels.receiver(h->from, h->kind, h + 1, bytes - sizeof *h);
}

/* What came straight is from the neighbour itself. Nobody acknowledges what was not sent. */
static int is_valid(const channel_head *h, int neighbour) {
  int n = channels.overlay->nodes, mine = channels.overlay->mine;
  return h->from >= 0 && h->from < n && h->from != mine && h->to >= 0 && h->to < n &&
         (h->serial || h->from == neighbour) &&
         (h->to != mine || h->taken <= channels.peers[h->from].numbered);
}

void rgi_channel_receive(int neighbour, const void *data, size_t bytes) {
  channel_head *h = bytes >= sizeof *h ? malloc(bytes) : NULL; /* aligned */
  if (!h)
    return;
  memcpy(h, data, bytes);
  if (is_valid(h, neighbour) && !channels.peers[h->from].dropped) {
    peer_channel *p = &channels.peers[h->from];
    int known = h->serial && h->serial <= p->seen;
    p->seen = h->serial > p->seen ? h->serial : p->seen;
    if (h->to == channels.overlay->mine)
      take_message(h, bytes);
    else if (h->serial && !known)
      relay_message(h, bytes, h->from);
  }
  free(h);
}

/* --- changes ---------------------------------------------------------------------------------- */

void rgi_channel_up(int node) {
  send_all(node);
}

/* Made again by this side as well, whichever had made it: a refusal is to tell both. */
void rgi_channel_broken(int node) {
  rgi_connection_make(node);
  if (rgi_connection_is_up(node))
    send_all(node);
}

/* A connection that was suspect may be up again without an event; what was relayed meanwhile may be
 * lost. */
static double repeat_seconds(int node) {
  return can_relay(node) ? REPEAT_SECONDS : rgi_connection_is_up(node) ? LATE_SECONDS : HUGE_VAL;
}

void rgi_channels_step(void) {
  double now = rgi_clock_now();
  for (int i = 0; channels.busy && i < channels.overlay->nodes; i++) {
    peer_channel *p = &channels.peers[i];
    if (p->first && now - p->repeated > repeat_seconds(i))
      send_all(i);
    if (p->owed > 0 && now - p->owed > ACK_SECONDS)
      acknowledge(i);
  }
}

double rgi_channels_timeout(void) {
  double timeout = -1;
  for (int i = 0; channels.busy && i < channels.overlay->nodes; i++) {
    if (channels.peers[i].owed > 0)
      return ACK_SECONDS;
    if (channels.peers[i].first)
      timeout = REPEAT_SECONDS;
  }
  return timeout;
}

void rgi_channel_drop(int node) {
  peer_channel *p = &channels.peers[node];
  forget_taken(p, UINT64_MAX);
  p->dropped = 1;
  p->owed = 0;
  note_busy(p);
}

int rgi_channels_open(const rgi_overlay *overlay, rgi_channel_receiver *receiver) {
  channels.overlay = overlay;
  channels.receiver = receiver;
  channels.serial = 0;
  channels.busy = 0;
  channels.peers = calloc((size_t)overlay->nodes, sizeof *channels.peers);
  return channels.peers != NULL;
}

void rgi_channels_close(void) {
  for (int i = 0; channels.peers && i < channels.overlay->nodes; i++)
    rgi_channel_drop(i);
  free(channels.peers);
  memset(&channels, 0, sizeof channels);
}
