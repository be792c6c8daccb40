/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One dimension of a distribution: which block an index is in, and where that
 * block stands in its owner's memory. Multiplications only: division is by
 * reciprocals in 2^64ths, which are at most one too low and then put right. */
#ifndef RGI_SPAN_H
#define RGI_SPAN_H

#include "distribution/distribution.h"

/* A block along one dimension. A member may own several (RG_LAYOUT_BLOCK_CYCLIC). */
typedef struct {
  int64_t lo, hi;
  int64_t owner;  /* its coordinate in the grid */
  int64_t before; /* elements of the owner's earlier blocks */
  int64_t all;    /* elements of all of the owner's blocks */
} rgi_span;

static inline int64_t rgi_span_times(int64_t i, uint64_t reciprocal) {
  return (int64_t)(((unsigned __int128)(uint64_t)i * reciprocal) >> 64);
}

/* i / by, where reciprocal = (2^64 - 1) / by. */
static inline int64_t rgi_span_divide(int64_t i, int64_t by, uint64_t reciprocal) {
  int64_t q = rgi_span_times(i, reciprocal);
  return q + (i - q * by >= by);
}

/* The last block that starts at or before i, by bisection. */
static inline int64_t rgi_span_search(const int64_t *boundaries, int64_t blocks, int64_t i) {
  int64_t low = 0, high = blocks;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (boundaries[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The block along dimension k that holds index i. Every access comes here: no further call. */
static inline int64_t rgi_span_of(const rgi_distribution *layout, int k, int64_t i) {
  const int64_t *b = layout->boundaries[k];
  if (!b)
    return rgi_span_divide(i, layout->chunk[k], layout->reciprocal[k]);
  if (!layout->reciprocal[k])
    return rgi_span_search(b, layout->grid[k], i);
  int64_t block = (int64_t)(((unsigned __int128)(uint64_t)i * layout->reciprocal[k]) >> 64);
  while (i >= b[block + 1])
    block++;
  return block;
}

/* rgi_distribution_find for arrays of which each member has one block. */
static inline int rgi_span_find(const rgi_distribution *layout, const int64_t at[],
                                int64_t *offset) {
  int64_t rank = 0, place = 0;
  for (int k = 0; k < layout->dims; k++) {
    int64_t block = rgi_span_of(layout, k, at[k]), ghosts = layout->ghosts[k];
    const int64_t *b = layout->boundaries[k] + block;
    rank = rank * layout->grid[k] + block;
    place = place * (b[1] - b[0] + 2 * ghosts) + at[k] - b[0] + ghosts;
  }
  *offset = place;
  return (int)rank;
}

static inline rgi_span rgi_span_cyclic(const rgi_distribution *layout, int k, int64_t block) {
  int64_t grid = layout->grid[k], chunk = layout->chunk[k], last = layout->blocks[k] - 1;
  int64_t round = rgi_span_divide(block, grid, layout->grid_reciprocal[k]),
          rounds = rgi_span_divide(last, grid, layout->grid_reciprocal[k]);
  int64_t owner = block - round * grid, last_owner = last - rounds * grid;
  int64_t lo = block * chunk, hi = block == last ? layout->shape[k] : lo + chunk;
  int64_t all = (rounds + (owner < last_owner)) * chunk;
  if (owner == last_owner)
    all += layout->shape[k] - last * chunk;
  return (rgi_span){.lo = lo, .hi = hi, .owner = owner, .before = round * chunk, .all = all};
}

static inline rgi_span rgi_span_at(const rgi_distribution *layout, int k, int64_t block) {
  const int64_t *b = layout->boundaries[k];
  if (!b)
    return rgi_span_cyclic(layout, k, block);
  return (rgi_span){
      .lo = b[block], .hi = b[block + 1], .owner = block, .all = b[block + 1] - b[block]};
}

#endif
