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
static void note_busy(peer_channel *channel) {
  int busy = channel->first || channel->owed > 0;
  channels.busy += busy - channel->busy;
  channel->busy = busy;
}

/* The head is followed by its data. */
static void relay_message(channel_head *head, size_t bytes, int except) {
  rgi_connection_send_all(except, RGI_CHANNEL_MESSAGE, head, bytes);
}

static void send_message(int node, channel_head *head, size_t bytes) {
  peer_channel *channel = &channels.peers[node];
  head->taken = channel->taken;
  head->serial = 0;
  rgi_connection_make(node);
  if (!rgi_connection_send(node, RGI_CHANNEL_MESSAGE, head, bytes)) {
    if (!can_relay(node))
      return;
    head->serial = ++channels.serial;
    relay_message(head, bytes, -1);
  }
  channel->owed = 0;
  note_busy(channel);
}

static void send_all(int node) {
  peer_channel *channel = &channels.peers[node];
  int relayed = !rgi_connection_is_up(node), n = 0;
  channel->repeated = rgi_clock_now();
  for (sent_message *message = channel->first; message && (!relayed || n++ < RELAYED_AT_ONCE);
       message = message->next)
    send_message(node, &message->head, message->bytes);
}

void rgi_channel_send(int node, uint32_t kind, const void *data, size_t bytes) {
  peer_channel *channel = &channels.peers[node];
  sent_message *message = channel->dropped ? NULL : malloc(sizeof *message + bytes);
  if (!message)
    return;
  *message = (sent_message){
      .bytes = sizeof message->head + bytes,
      .head = {
          .from = channels.overlay->mine, .to = node, .number = ++channel->numbered, .kind = kind}};
  if (bytes)
    memcpy(&message->head + 1, data, bytes);
  if (channel->first) {
    channel->last->next = message;
  } else {
    channel->first = message;
    channel->repeated = rgi_clock_now();
  }
  channel->last = message;
  note_busy(channel);
  send_message(node, &message->head, message->bytes);
}

int rgi_channel_is_idle(int node) {
  return !channels.peers[node].first;
}

void rgi_channel_probe(int node) {
  if (rgi_channel_is_idle(node))
    rgi_channel_send(node, RGI_CHANNEL_PROBE, NULL, 0);
}

static void acknowledge(int node) {
  channel_head head = {.from = channels.overlay->mine, .to = node};
  send_message(node, &head, sizeof head);
}

/* --- receiving -------------------------------------------------------------------------------- */

static void forget_taken(peer_channel *channel, uint64_t taken) {
  while (channel->first && channel->first->head.number <= taken) {
    sent_message *message = channel->first;
    channel->first = message->next;
    free(message);
  }
  note_busy(channel);
}

static void take_message(const channel_head *head, size_t bytes) {
  peer_channel *channel = &channels.peers[head->from];
  rgi_connection_note_heard(head->from);
  forget_taken(channel, head->taken);
  if (head->number == 0)
    return;
  channel->owed = channel->owed > 0 ? channel->owed : rgi_clock_now();
  note_busy(channel);
  if (head->number != channel->taken + 1)
    return;
  channel->taken++;
  if (head->kind != RGI_CHANNEL_PROBE)
    channels.receiver(head->from, head->kind, head + 1, bytes - sizeof *head);
}

/* What came straight is from the neighbour itself. Nobody acknowledges what was not sent. */
static int is_valid(const channel_head *head, int neighbour) {
  int n = channels.overlay->nodes, mine = channels.overlay->mine;
  return head->from >= 0 && head->from < n && head->from != mine && head->to >= 0 && head->to < n &&
         (head->serial || head->from == neighbour) &&
         (head->to != mine || head->taken <= channels.peers[head->from].numbered);
}

void rgi_channel_receive(int neighbour, const void *data, size_t bytes) {
  channel_head *head = bytes >= sizeof *head ? malloc(bytes) : NULL; /* aligned */
  if (!head)
    return;
  memcpy(head, data, bytes);
  if (is_valid(head, neighbour) && !channels.peers[head->from].dropped) {
    peer_channel *channel = &channels.peers[head->from];
    int known = head->serial && head->serial <= channel->seen;
    channel->seen = head->serial > channel->seen ? head->serial : channel->seen;
    if (head->to == channels.overlay->mine)
      take_message(head, bytes);
    else if (head->serial && !known)
      relay_message(head, bytes, head->from);
  }
  free(head);
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
    peer_channel *channel = &channels.peers[i];
    if (channel->first && now - channel->repeated > repeat_seconds(i))
      send_all(i);
    if (channel->owed > 0 && now - channel->owed > ACK_SECONDS)
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
  peer_channel *channel = &channels.peers[node];
  forget_taken(channel, UINT64_MAX);
  channel->dropped = 1;
  channel->owed = 0;
  note_busy(channel);
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
