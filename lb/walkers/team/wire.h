/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between the processes that balance: whole numbers of 64 bits. */
#ifndef RGI_TEAM_WIRE_H
#define RGI_TEAM_WIRE_H

#include <stdint.h>

#include "walkers/team/membership.h"

/* Tags: requests to join and their answers; between nodes; copies of records and their receipt; a
 * walker that begins on another node than the one that it waits on. */
enum {
  RGI_WIRE_REQUEST = 1,
  RGI_WIRE_ANSWER,
  RGI_WIRE_INTERNODE,
  RGI_WIRE_COPY,
  RGI_WIRE_COPIED,
  RGI_WIRE_WALKER
};

typedef struct {
  const rgi_membership *members;
  struct rgi_wire_message *out; /* messages under way */
} rgi_wire;

/* A message that has come. */
typedef struct {
  int from;
  int64_t count, *words; /* freed by the taker; NULL: none has come */
} rgi_wire_received;

int rgi_wire_send(rgi_wire *wire, int to, int tag, int64_t count, const int64_t words[]);
/* Takes a message if there is one. */
int rgi_wire_take(const rgi_wire *wire, int tag, rgi_wire_received *received);
/* Waits for one that is certain to come. */
int rgi_wire_await(const rgi_wire *wire, int from, int tag, rgi_wire_received *received);
int rgi_wire_reap(rgi_wire *wire);  /* frees messages that have been sent */
int rgi_wire_flush(rgi_wire *wire); /* waits until all have been sent */

#endif
