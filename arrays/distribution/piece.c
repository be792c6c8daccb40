/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A patch cut by the blocks that it crosses: along each dimension it covers a range of
 * blocks, and the pieces are the cross product of these ranges, without the empty blocks. */
#include "distribution/piece.h"

#include <string.h>

#include "distribution/distribution_owner.h"
#include "distribution/span.h"

/* The blocks from first to last hold the patch; 0: the patch is empty. */
static int blocks_of(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[],
                     int64_t first[], int64_t last[]) {
  for (int k = 0; k < layout->dims; k++)
    if (lo[k] >= hi[k])
      return 0;
  for (int k = 0; k < layout->dims; k++) {
    first[k] = rgi_span_of(layout, k, lo[k]);
    last[k] = rgi_span_of(layout, k, hi[k] - 1);
  }
  return 1;
}

static int is_empty(const rgi_distribution *layout, int k, int64_t block) {
  return layout->boundaries[k][block] == layout->boundaries[k][block + 1];
}

/* The part of the patch in the block with these coordinates. */
static void cut_piece(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[],
                      const int64_t block[], rgi_piece *piece) {
  int64_t earlier = 0, tail = 1, inside = 0, stride = 1, rank = 0, ranks = 1;
  const int matrix = layout->layout == RG_LAYOUT_SCALAPACK;
  for (int k = layout->dims - 1; k >= 0; k--) {
    rgi_span s = rgi_span_at(layout, k, block[k]);
    int64_t extent = matrix ? s.all : s.hi - s.lo + 2 * layout->ghosts[k];
    piece->lo[k] = lo[k] > s.lo ? lo[k] : s.lo;
    piece->hi[k] = hi[k] < s.hi ? hi[k] : s.hi;
    earlier = s.before * tail + (s.hi - s.lo) * earlier;
    tail *= s.all;
    inside += (piece->lo[k] - s.lo + (matrix ? s.before : layout->ghosts[k])) * stride;
    stride *= extent;
    rank += s.owner * ranks;
    ranks *= layout->grid[k];
    if (k > 0)
      piece->ld[k - 1] = extent;
  }
  piece->rank = (int)rank;
  piece->offset = matrix ? inside : earlier + inside;
}

int rgi_piece_within(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[],
                     rgi_piece *piece) {
  int64_t inside = 0, stride = 1, rank = 0, ranks = 1;
  if (rgi_distribution_is_cyclic(layout))
    return 0;
  for (int k = layout->dims - 1; k >= 0; k--) {
    if (lo[k] < 0 || lo[k] >= hi[k] || hi[k] > layout->shape[k])
      return 0;
    int64_t block = rgi_span_of(layout, k, lo[k]), ghosts = layout->ghosts[k];
    const int64_t *b = layout->boundaries[k] + block;
    if (hi[k] > b[1])
      return 0;
    piece->lo[k] = lo[k];
    piece->hi[k] = hi[k];
    inside += (lo[k] - b[0] + ghosts) * stride;
    stride *= b[1] - b[0] + 2 * ghosts;
    if (k > 0)
      piece->ld[k - 1] = b[1] - b[0] + 2 * ghosts;
    rank += block * ranks;
    ranks *= layout->grid[k];
  }
  piece->rank = (int)rank;
  piece->offset = inside;
  return 1;
}

static void start_pieces(rgi_pieces *it, const rgi_distribution *layout, const int64_t lo[],
                         const int64_t hi[], int own) {
  size_t bytes = (size_t)layout->dims * sizeof *lo;
  it->d = layout;
  it->own = own;
  it->more = blocks_of(layout, lo, hi, it->first, it->last);
  memcpy(it->lo, lo, bytes);
  memcpy(it->hi, hi, bytes);
}

void rgi_pieces_start(rgi_pieces *it, const rgi_distribution *layout, const int64_t lo[],
                      const int64_t hi[]) {
  start_pieces(it, layout, lo, hi, 0);
  if (it->more)
    memcpy(it->next, it->first, (size_t)layout->dims * sizeof *lo);
}

void rgi_pieces_start_own(rgi_pieces *it, const rgi_distribution *layout, int rank,
                          const int64_t lo[], const int64_t hi[]) {
  int64_t at[RG_ARRAY_MAX_DIMS];
  start_pieces(it, layout, lo, hi, 1);
  it->more = it->more && rgi_distribution_place(layout, rank, at);
  for (int k = 0; k < layout->dims && it->more; k++) {
    int64_t grid = layout->grid[k], before = it->first[k] - at[k];
    it->first[k] = at[k] + (before > 0 ? (before + grid - 1) / grid * grid : 0);
    it->next[k] = it->first[k];
    it->more = it->first[k] <= it->last[k] && !(layout->gaps && is_empty(layout, k, it->first[k]));
  }
}

int rgi_pieces_next(rgi_pieces *it, rgi_piece *piece) {
  const rgi_distribution *layout = it->d;
  if (!it->more)
    return 0;
  cut_piece(layout, it->lo, it->hi, it->next, piece);
  it->more = 0;
  for (int k = layout->dims - 1; k >= 0 && !it->more; k--) {
    int64_t step = it->own ? layout->grid[k] : 1;
    it->more = it->next[k] + step <= it->last[k];
    it->next[k] = it->more ? it->next[k] + step : it->first[k];
    while (layout->gaps && is_empty(layout, k, it->next[k]))
      it->next[k]++; /* the last one is not empty */
  }
  return 1;
}

/* How many blocks from first to last along dimension k are not empty. */
static int64_t count_along(const rgi_distribution *layout, int k, int64_t first, int64_t last) {
  return layout->gaps ? layout->filled[k][last + 1] - layout->filled[k][first] : last - first + 1;
}

int64_t rgi_pieces_count(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[]) {
  int64_t first[RG_ARRAY_MAX_DIMS], last[RG_ARRAY_MAX_DIMS], count = 1;
  if (!blocks_of(layout, lo, hi, first, last))
    return 0;
  for (int k = 0; k < layout->dims; k++)
    count *= count_along(layout, k, first[k], last[k]);
  return count;
}

/* The i-th block from first on that is not empty: the last one with as many before it. */
static int64_t step_along(const rgi_distribution *layout, int k, int64_t first, int64_t i) {
  return layout->gaps
             ? rgi_span_search(layout->filled[k], layout->grid[k], layout->filled[k][first] + i)
             : first + i;
}

void rgi_pieces_get(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[],
                    int64_t i, rgi_piece *piece) {
  int64_t first[RG_ARRAY_MAX_DIMS], last[RG_ARRAY_MAX_DIMS], block[RG_ARRAY_MAX_DIMS];
  if (!blocks_of(layout, lo, hi, first, last))
    return;
  for (int k = layout->dims - 1; k >= 0; k--) {
    int64_t count = count_along(layout, k, first[k], last[k]);
    block[k] = step_along(layout, k, first[k], i % count);
    i /= count;
  }
  cut_piece(layout, lo, hi, block, piece);
}

void rgi_piece_strides(int dims, const int64_t ld[], int64_t stride[]) {
  stride[dims - 1] = 1;
  for (int d = dims - 1; d > 0; d--)
    stride[d - 1] = stride[d] * ld[d - 1];
}
