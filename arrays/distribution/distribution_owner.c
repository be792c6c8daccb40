/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Ranks and blocks are numbered in C order over the grid: block b along a dimension
 * belongs to coordinate b, or b modulo the grid where blocks are dealt out cyclically. */
#include "distribution/distribution_owner.h"

#include <string.h>

#include "distribution/span.h"

int rgi_distribution_owner(const rgi_distribution *layout, const int64_t at[]) {
  int64_t rank = 0;
  for (int k = 0; k < layout->dims; k++) {
    int64_t block = rgi_span_of(layout, k, at[k]);
    if (!layout->boundaries[k])
      block -=
          rgi_span_divide(block, layout->grid[k], layout->grid_reciprocal[k]) * layout->grid[k];
    rank = rank * layout->grid[k] + block;
  }
  return (int)rank;
}

/* In the local matrix of RG_LAYOUT_SCALAPACK. */
static int find_in_matrix(const rgi_distribution *layout, const int64_t at[], int64_t *offset) {
  int64_t place = 0, rank = 0;
  for (int k = 0; k < layout->dims; k++) {
    rgi_span s = rgi_span_cyclic(layout, k, rgi_span_of(layout, k, at[k]));
    place = place * s.all + s.before + (at[k] - s.lo);
    rank = rank * layout->grid[k] + s.owner;
  }
  *offset = place;
  return (int)rank;
}

static int find_cyclic(const rgi_distribution *layout, const int64_t at[], int64_t *offset) {
  int64_t earlier = 0, tail = 1, inside = 0, stride = 1, rank = 0, ranks = 1;
  for (int k = layout->dims - 1; k >= 0; k--) {
    rgi_span s = rgi_span_cyclic(layout, k, rgi_span_of(layout, k, at[k]));
    earlier = s.before * tail + (s.hi - s.lo) * earlier;
    tail *= s.all;
    inside += (at[k] - s.lo) * stride;
    stride *= s.hi - s.lo;
    rank += s.owner * ranks;
    ranks *= layout->grid[k];
  }
  *offset = earlier + inside;
  return (int)rank;
}

int rgi_distribution_find(const rgi_distribution *layout, const int64_t at[], int64_t *offset) {
  return layout->layout == RG_LAYOUT_BLOCK_CYCLIC ? find_cyclic(layout, at, offset)
         : layout->layout == RG_LAYOUT_SCALAPACK  ? find_in_matrix(layout, at, offset)
                                                  : rgi_span_find(layout, at, offset);
}

int rgi_distribution_place(const rgi_distribution *layout, int rank, int64_t at[]) {
  if (rank < 0 || rank >= layout->owners)
    return 0;
  for (int k = layout->dims - 1; k >= 0; k--) {
    at[k] = rank % layout->grid[k];
    rank /= layout->grid[k];
  }
  return 1;
}

/* How many blocks along dimension k the members with this coordinate have. */
static int64_t blocks_along(const rgi_distribution *layout, int k, int64_t coordinate) {
  if (layout->boundaries[k])
    return 1;
  int64_t later = layout->blocks[k] - 1 - coordinate;
  return later < 0 ? 0 : 1 + rgi_span_divide(later, layout->grid[k], layout->grid_reciprocal[k]);
}

int64_t rgi_distribution_blocks(const rgi_distribution *layout, int rank) {
  int64_t at[RG_ARRAY_MAX_DIMS], blocks = 1;
  if (!rgi_distribution_place(layout, rank, at))
    return 0;
  for (int k = 0; k < layout->dims; k++)
    if (blocks_along(layout, k, at[k]) == 0) /* as below */
      return 0;
  for (int k = 0; k < layout->dims; k++)
    blocks *= blocks_along(layout, k, at[k]);
  return blocks;
}

void rgi_distribution_block(const rgi_distribution *layout, int rank, int64_t i, int64_t lo[],
                            int64_t hi[]) {
  int64_t at[RG_ARRAY_MAX_DIMS];
  memset(lo, 0, (size_t)layout->dims * sizeof *lo);
  memset(hi, 0, (size_t)layout->dims * sizeof *hi);
  if (i < 0 || i >= rgi_distribution_blocks(layout, rank))
    return;
  rgi_distribution_place(layout, rank, at);
  for (int k = layout->dims - 1; k >= 0; k--) {
    int64_t along = blocks_along(layout, k, at[k]);
    rgi_span s = rgi_span_at(layout, k, at[k] + i % along * layout->grid[k]);
    i /= along;
    lo[k] = s.lo;
    hi[k] = s.hi;
  }
}

int64_t rgi_distribution_extent(const rgi_distribution *layout, int rank) {
  int64_t at[RG_ARRAY_MAX_DIMS], all[RG_ARRAY_MAX_DIMS], elements = 1;
  if (!rgi_distribution_place(layout, rank, at))
    return 0;
  for (int k = 0; k < layout->dims; k++) {
    all[k] = blocks_along(layout, k, at[k]) ? rgi_span_at(layout, k, at[k]).all : 0;
    if (all[k] == 0) /* before the product is taken: that of the others may overflow */
      return 0;
  }
  for (int k = 0; k < layout->dims; k++)
    elements *= all[k] + 2 * layout->ghosts[k];
  return elements;
}

int64_t rgi_distribution_linear(const rgi_distribution *layout, const int64_t at[]) {
  int64_t index = 0;
  for (int i = 0; i < layout->dims; i++)
    index = index * layout->shape[i] + at[i];
  return index;
}
