/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where a mirrored array that spans nodes has its copies. Each member has a holder, a member on
 * another node (machine/domain.h). Behind a member's elements, in its heap part, are pairs of
 * versions: one pair of its own elements, and one for each member whose holder it is. A pair is a
 * cache line with two labels, and two versions. A label is the number of the rg_array_sync that the
 * version is of; 0: of none yet.
 *
 * The n-th rg_array_sync writes the versions n % 2, and sets a version's label when the version is
 * complete (with a release fence between the two). No member begins the next one before all
 * have ended this one. So at any moment every pair has the version of the last rg_array_sync that
 * was completed, and some may have the version of the one under way as well. */
#ifndef RGI_MIRROR_H
#define RGI_MIRROR_H

#include "distribution/distribution_owner.h"
#include "object/array.h"

/* Chooses the holders, by the nodes and failure domains of the members. O(members). RG_ERR_NOMEM.
 */
int rgi_mirror_open(rg_array a);

/* Bytes of the caller's pairs, and where a member's pairs begin in its memory. The labels are to be
 * cleared before another process can write there. */
uint64_t rgi_mirror_bytes(rg_array a);
uint64_t rgi_mirror_start(rg_array a, int rank);
void rgi_mirror_clear(rg_array a, char *pairs);

/* Bytes of one version of a member's elements. */
static inline uint64_t rgi_mirror_elements(rg_array a, int rank) {
  return (uint64_t)rgi_distribution_extent(&a->d, rank) * a->element;
}

/* A pair: the member in whose memory it is, and its offset in that member's heap part. */
typedef struct {
  int member;
  uint64_t offset;
} rgi_mirror_pair;
rgi_mirror_pair rgi_mirror_own(rg_array a, int rank);
rgi_mirror_pair rgi_mirror_copy(rg_array a, int rank); /* its holder's */

/* For a pair in the memory of a member of the caller's node: its newest label; the elements of a
 * version of rank's, in this process's memory. */
uint64_t rgi_mirror_newest(rg_array a, rgi_mirror_pair pair);
char *rgi_mirror_version(rg_array a, int rank, rgi_mirror_pair pair, uint64_t label);

/* Sets the label of a version that is complete. */
void rgi_mirror_label(rg_array a, rgi_mirror_pair pair, uint64_t label);

#endif
