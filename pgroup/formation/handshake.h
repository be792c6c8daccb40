/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A handshake of two groups: their leaders exchange the lists of members and of those that leave,
 * and each passes them on in its own group. */
#ifndef RGI_HANDSHAKE_H
#define RGI_HANDSHAKE_H

#include "formation/group.h"

typedef enum { RGI_HANDSHAKE_MERGE = 1, RGI_HANDSHAKE_REASSIGN } rgi_handshake_kind;

typedef struct {
  rg_group parent;
  int remote_leader, tag;
  rgi_handshake_kind kind;
  int high;           /* merging: which side goes last */
  int n;              /* reassigning: how many of the own members leave */
  const int *leaving; /* their ranks in the own group */
  int error;          /* the caller's own error, which all members get */
} rgi_handshake_offer;

/* What the other side has sent. Free it by rgi_handshake_peer_free. */
typedef struct {
  const int *members;    /* packed (members.h) */
  int high, n, *leaving; /* as in the offer, of the other group */
  int *ints;             /* the memory of both */
  uint64_t id[2];        /* creation ids (group.h): of the caller's side, of the other */
  int diverged;          /* one of the two groups has diverged */
} rgi_handshake_peer;

/* Members of both groups call. Messages: two each way between the leaders, and 2 (g - 1) inside
 * each group. All members of both groups return an error, each its own or that of another one;
 * RG_ERR_TIMEOUT where the leaders do not reach each other. */
int rgi_handshake(const char *call, rg_group mine, const rgi_handshake_offer *offer,
                  rgi_handshake_peer *peer);
void rgi_handshake_peer_free(rgi_handshake_peer *peer);

#endif
