/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Mirrored arrays that span nodes. Behind each member's elements, in its share, are pairs
 * of versions: one pair of its own elements, and one for each member that it is the holder
 * of, which is on another node. A pair is a line with two labels and two versions; the
 * label says which rg_array_sync a version is of, 0: none yet. The n-th one writes into
 * the versions n % 2 and labels them when they are complete; nobody begins the next
 * before all have ended this one. So whenever processes die, all pairs that are left have
 * either the last one or the one that was interrupted, and every pair has the last. */
#ifndef RGI_MIRROR_H
#define RGI_MIRROR_H

#include "distribution/distribution_owner.h"
#include "object/array.h"

/* Chooses the holders. RG_ERR_NOMEM. The members' world ranks are known by a's group. */
int rgi_mirror_open(rg_array a);

/* Bytes of the caller's pairs, and where they begin in its memory. */
uint64_t rgi_mirror_bytes(rg_array a);
uint64_t rgi_mirror_start(rg_array a, int rank);
void rgi_mirror_clear(rg_array a, char *pairs);

/* Of a member's elements: bytes of one version. */
static inline uint64_t rgi_mirror_elements(rg_array a, int rank) {
  return (uint64_t)rgi_distribution_extent(&a->d, rank) * a->element;
}

/* A pair: whose memory it is in, and where in that process's share. */
typedef struct {
  int member;
  uint64_t offset;
} rgi_mirror_pair;
rgi_mirror_pair rgi_mirror_own(rg_array a, int rank);
rgi_mirror_pair rgi_mirror_copy(rg_array a, int rank); /* at the holder */

/* In this process's memory, of a member of the caller's node: the newest label; a
 * version's elements. */
uint64_t rgi_mirror_newest(rg_array a, rgi_mirror_pair p);
char *rgi_mirror_version(rg_array a, int rank, rgi_mirror_pair p, uint64_t label);

/* A version is complete. */
void rgi_mirror_label(rg_array a, rgi_mirror_pair p, uint64_t label);

#endif
