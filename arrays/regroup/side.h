/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One side of a handing over, told to processes that are not on it: how an array is
 * or will be divided, and among whom. */
#ifndef RGI_SIDE_H
#define RGI_SIDE_H

#include <regroup/array.h>

#include "distribution/distribution.h"

typedef struct {
  int64_t n, *words; /* all of it, as it is sent */
  rg_array_spec spec;
  int members;
  const int64_t *ranks; /* of the members, in the group that carries the exchange */
  rgi_distribution d;
} rgi_side;

/* What this process knows of a side that it is on: the spec (with its boundaries) and
 * the side's group. RG_ERR_GROUP: a member of it is not in `both`. */
int rgi_side_known(const rg_array_spec *spec, rg_group side, rg_group both, rgi_side *s);

/* From root's words to everybody's. Every member of both. *s: what is known here, or
 * zeroes; RG_ERR_MISMATCH if it is not what root says. */
int rgi_side_spread(rg_group both, int root, rgi_side *s);

/* A member's rank on a side, -1 if it is not on it. */
int rgi_side_rank(const rgi_side *s, int rank_in_both);

/* What every member of both found: RG_SUCCESS if all did; else the caller's own error, or
 * another's. */
int rgi_side_agree(rg_group both, int error);

void rgi_side_clear(rgi_side *s);

#endif
