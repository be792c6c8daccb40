/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The old or the new side of a redistribution: how the array is divided, and among which members.
 * It is broadcast to processes that are not on that side. */
#ifndef RGI_SIDE_H
#define RGI_SIDE_H

#include <regroup/array.h>

#include "distribution/distribution.h"

typedef struct {
  int64_t n, *words; /* all of it, as it is broadcast */
  rg_array_spec spec;
  int members;
  const int64_t *ranks; /* of the members, in the group of both sides */
  rgi_distribution d;
} rgi_side;

/* Describes a side that the caller is on, from the spec (with its boundaries) and the side's group.
 * RG_ERR_GROUP: a member of it is not in `both`. */
int rgi_side_known(const rg_array_spec *spec, rg_group side, rg_group both, rgi_side *made);

/* Broadcasts root's description. Every member of both. *side: the caller's description, or zeroes;
 * RG_ERR_MISMATCH if it differs from root's. */
int rgi_side_spread(rg_group both, int root, rgi_side *side);

/* A member's rank on a side, -1 if it is not on it. */
int rgi_side_rank(const rgi_side *side, int rank_in_both);

void rgi_side_clear(rgi_side *side);

#endif
