/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The parts of daemon_network.h that its other files share: presence.c, ballot.c and channel.c,
 * under names of the test's own; the state of each node and connection; the clock. */
#ifndef RGT_DAEMON_WORLD_H
#define RGT_DAEMON_WORLD_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "noded/wire/overlay.h"

/* The three call the test's functions for these, and are not those of the library. */
#include "channel_names.h"
#define rgi_connection_heard test_connection_heard
#define rgi_connection_was_heard test_connection_was_heard
#define rgi_connection_confirmed test_connection_confirmed
#define rgi_connections_ping_seconds test_connections_ping_seconds
#define rgi_witness_ask test_witness_ask
#define rgi_ballot_open test_ballot_open
#define rgi_ballot_close test_ballot_close
#define rgi_ballot_judge test_ballot_judge
#define rgi_ballot_is_quorum test_ballot_is_quorum
#define rgi_ballot_set_to_propose test_ballot_set_to_propose
#define rgi_ballot_lowest test_ballot_lowest
#define rgi_presence_open test_presence_open
#define rgi_presence_close test_presence_close
#define rgi_presence_refused test_presence_refused
#define rgi_presence_receive test_presence_receive
#define rgi_presence_learn test_presence_learn
#define rgi_presence_step test_presence_step
#define rgi_presence_timeout test_presence_timeout
#define rgi_presence_is_disturbed test_presence_is_disturbed

double rgi_clock_now(void);

/* Functions of the same name in two of them. */
#define is_silent is_silent_in_ballot
#define is_cut is_cut_in_ballot
#include "noded/consensus/ballot.c"
#undef is_silent
#undef is_cut
#define send_message send_in_channel
#include "noded/network/channel.c"
#undef send_message
#include "noded/consensus/presence.c"

#define NEEDED_SECONDS 2.0 /* of connection.c */

enum { NODES = 9, CONNECTIONS = 16, DECISIONS = NODES + 1, FACTS = 64 };

typedef enum { RUNNING, STOPPED, KILLED, OFF, GIVEN_UP, FINISHED } node_state;

/* Kinds of pieces on a connection: those of connection.c and daemon.c beside RGI_CHANNEL_MESSAGE,
 * and others. */
enum {
  PIECE_PING,
  PIECE_FACT,
  PIECE_PING_NEEDED = 3,
  PIECE_DECISION,
  PIECE_HELLO = 100,
  PIECE_ANSWER,
  PIECE_PROOF,
  PIECE_REFUSED,
  PIECE_END
};

typedef struct piece {
  struct piece *next;
  double at;
  uint32_t kind;
  size_t bytes;
  char data[];
} piece;

typedef struct {
  piece *first, *last;
  double held; /* until when */
} stream;

typedef enum { SIDE_NONE, SIDE_DIALING, SIDE_STRANGER, SIDE_UP, SIDE_CLOSED } side_state;

/* Side 0 has dialled. */
typedef struct connection {
  struct connection *next;
  int node[2];
  side_state state[2];
  double received[2], pinged[2];
  int needed_far[2], pinged_far[2];
  long came_up[2];
  stream to[2];
  double tried, call; /* when it was last dialled; when that call comes to the other host */
} connection;

/* What a daemon knows of another one: the names are those of connection.c. */
typedef struct {
  int kept, was_heard;
  double used, heard, down, direct, clock, confirmed;
  connection *dial;
} peer;

typedef struct {
  node_state state;
  rgi_overlay overlay;
  __typeof__(here) here;
  __typeof__(channels) channels;
  peer peers[NODES];
  unsigned char lost[NODES], end_heard[NODES], left[NODES];
  rgi_overlay_fact facts[FACTS];
  int known[DECISIONS], decisions; /* decisions known; so many are applied */
  unsigned char sets[DECISIONS][NODES];
  int n, joined, given_up, done,
      ended; /* n: facts; done: the application here has come to its end */
  double stepped, wake, ended_at, decided_at;
  double waits;                            /* since when a rank waits; INFINITY: none does */
  unsigned char applied[DECISIONS][NODES]; /* nodes lost after each decision */
  const char *why;
} host;

static struct {
  int n, now;
  double time, latency, jitter;
  host of[NODES];
  connection *first;
  long came_up;                                 /* connections that have */
  long pieces;                                  /* that have been sent */
  int cuts[NODES][NODES], closed[NODES][NODES]; /* closed: calls are refused on the way */
  double cut_at[NODES][NODES];
  int holder[DECISIONS], witness_hidden[NODES]; /* holder: node plus 1 */
} world;

static int any(int n) {
  return (int)(random() % n);
}

static double part(double seconds) {
  return seconds * (double)any(1 << 20) / (1 << 20);
}

double rgi_clock_now(void) {
  return world.time;
}

#endif
