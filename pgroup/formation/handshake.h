/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A handshake of two groups: their first members tell each other who their members
 * are and which of them leave, and each tells its own group. */
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
  int error;          /* the caller's own error, told to all */
} rgi_handshake_offer;

/* What the other side brings. Free it by rgi_handshake_peer_free. */
typedef struct {
  rgi_members *members;
  int high, n, *leaving; /* as in the offer, of the other group */
  int *ints;             /* the memory of leaving */
  uint64_t id[2];        /* of this operation (group.h): the caller's side's, the other's */
  int diverged;          /* one of the two groups is of survivors */
} rgi_handshake_peer;

/* Members of both groups call. Messages: one each way between the first members
 * (two where deaths are survived), and g - 1 inside each group. All members of both return the same
 * error, or RG_ERR_TIMEOUT where the leaders do not reach each other. */
int rgi_handshake(const char *call, rg_group mine, const rgi_handshake_offer *offer,
                  rgi_handshake_peer *peer);
void rgi_handshake_peer_free(rgi_handshake_peer *peer);

#endif
