/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Ranks and blocks are numbered in C order over the grid: block b along a dimension
 * belongs to coordinate b, or b modulo the grid where blocks are dealt out cyclically. */
#include "distribution/distribution_owner.h"

#include <string.h>

#include "distribution/span.h"

int rgi_distribution_owner(const rgi_distribution *d, const int64_t at[]) {
  int64_t rank = 0;
  for (int k = 0; k < d->dims; k++) {
    int64_t block = rgi_span_of(d, k, at[k]);
    if (!d->boundaries[k])
      block -= rgi_span_divide(block, d->grid[k], d->grid_reciprocal[k]) * d->grid[k];
    rank = rank * d->grid[k] + block;
  }
  return (int)rank;
}

static int find_cyclic(const rgi_distribution *d, const int64_t at[], int64_t *offset) {
  int64_t earlier = 0, tail = 1, inside = 0, stride = 1, rank = 0, ranks = 1;
  for (int k = d->dims - 1; k >= 0; k--) {
    rgi_span s = rgi_span_cyclic(d, k, rgi_span_of(d, k, at[k]));
    earlier = s.before * tail + (s.hi - s.lo) * earlier;
    tail *= s.all;
    inside += (at[k] - s.lo) * stride;
    stride *= s.hi - s.lo;
    rank += s.owner * ranks;
    ranks *= d->grid[k];
  }
  *offset = earlier + inside;
  return (int)rank;
}

int rgi_distribution_find(const rgi_distribution *d, const int64_t at[], int64_t *offset) {
  return d->layout == RG_LAYOUT_BLOCK_CYCLIC ? find_cyclic(d, at, offset)
                                             : rgi_span_find(d, at, offset);
}

int rgi_distribution_place(const rgi_distribution *d, int rank, int64_t at[]) {
  if (rank < 0 || rank >= d->owners)
    return 0;
  for (int k = d->dims - 1; k >= 0; k--) {
    at[k] = rank % d->grid[k];
    rank /= d->grid[k];
  }
  return 1;
}

/* How many blocks along dimension k the members with this coordinate have. */
static int64_t blocks_along(const rgi_distribution *d, int k, int64_t coordinate) {
  if (d->boundaries[k])
    return 1;
  int64_t later = d->blocks[k] - 1 - coordinate;
  return later < 0 ? 0 : 1 + rgi_span_divide(later, d->grid[k], d->grid_reciprocal[k]);
}

int64_t rgi_distribution_blocks(const rgi_distribution *d, int rank) {
  int64_t at[RG_ARRAY_MAX_DIMS], blocks = 1;
  if (!rgi_distribution_place(d, rank, at))
    return 0;
  for (int k = 0; k < d->dims; k++)
    if (blocks_along(d, k, at[k]) == 0) /* as below */
      return 0;
  for (int k = 0; k < d->dims; k++)
    blocks *= blocks_along(d, k, at[k]);
  return blocks;
}

void rgi_distribution_block(const rgi_distribution *d, int rank, int64_t i, int64_t lo[],
                            int64_t hi[]) {
  int64_t at[RG_ARRAY_MAX_DIMS];
  memset(lo, 0, (size_t)d->dims * sizeof *lo);
  memset(hi, 0, (size_t)d->dims * sizeof *hi);
  if (i < 0 || i >= rgi_distribution_blocks(d, rank))
    return;
  rgi_distribution_place(d, rank, at);
  for (int k = d->dims - 1; k >= 0; k--) {
    int64_t along = blocks_along(d, k, at[k]);
    rgi_span s = rgi_span_at(d, k, at[k] + i % along * d->grid[k]);
    i /= along;
    lo[k] = s.lo;
    hi[k] = s.hi;
  }
}

int64_t rgi_distribution_extent(const rgi_distribution *d, int rank) {
  int64_t at[RG_ARRAY_MAX_DIMS], all[RG_ARRAY_MAX_DIMS], elements = 1;
  if (!rgi_distribution_place(d, rank, at))
    return 0;
  for (int k = 0; k < d->dims; k++) {
    all[k] = blocks_along(d, k, at[k]) ? rgi_span_at(d, k, at[k]).all : 0;
    if (all[k] == 0) /* before the product is taken: that of the others may overflow */
      return 0;
  }
  for (int k = 0; k < d->dims; k++)
    elements *= all[k] + 2 * d->ghosts[k];
  return elements;
}

int64_t rgi_distribution_linear(const rgi_distribution *d, const int64_t at[]) {
  int64_t index = 0;
  for (int i = 0; i < d->dims; i++)
    index = index * d->shape[i] + at[i];
  return index;
}
