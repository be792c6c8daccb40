/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The fast path of single elements on one node. */
#ifndef RGI_SINGLE_H
#define RGI_SINGLE_H

#include <string.h>

#include "distribution/distribution_owner.h"
#include "distribution/span.h"
#include "object/array.h"

/* How many elements of dimension k's block come before index i, and how long the block
 * is in memory. Only where blocks are equal but for one element (reciprocal). */
static inline int64_t rgi_single_along(const rgi_distribution *layout, int k, int64_t i,
                                       int64_t *block, int64_t *extent) {
  const int64_t *b = layout->boundaries[k];
  *block = rgi_span_times(i, layout->reciprocal[k]);
  while (__builtin_expect(i >= b[*block + 1], 0))
    ++*block;
  *extent = b[*block + 1] - b[*block] + 2 * layout->ghosts[k];
  return i - b[*block] + layout->ghosts[k];
}

/* One dimension, on one node: the memory of the member that owns element i, and the element's place
 * in it; or NULL. */
static inline char *rgi_single_in_line(rg_array a, int64_t i, int64_t *place) {
  int64_t block, extent;
  *place = i;
  if ((uint64_t)i >= (uint64_t)a->d.shape[0])
    return NULL;
  if (a->line)
    return a->line;
  if (a->regular != 1)
    return NULL;
  *place = rgi_single_along(&a->d, 0, i, &block, &extent);
  return a->base + a->starts[block];
}

/* One and two dimensions, the most frequent ones, without a loop. */
static inline char *rgi_single_regular(rg_array a, const int64_t at[], int *rank) {
  int64_t row, column = 0, height, width;
  int64_t place = rgi_single_along(&a->d, 0, at[0], &row, &height);
  if (a->regular == 2) {
    int64_t along = rgi_single_along(&a->d, 1, at[1], &column, &width);
    row = row * a->d.grid[1] + column;
    place = place * width + along;
  }
  *rank = (int)row;
  return a->base + a->starts[row] + place * (int64_t)a->element;
}

/* The address of element `at`, or NULL. Then the common path is taken, which finds the error, if it
 * is one. */
static inline char *rgi_single_at(rg_array a, const int64_t at[], int *rank) {
  int64_t offset;
  if (!rgi_array_alive(a) || !a->one_node || !at)
    return NULL;
  if (a->line && (uint64_t)at[0] < (uint64_t)a->d.shape[0]) {
    *rank = 0;
    return a->line + at[0] * (int64_t)a->element;
  }
  if (a->regular && (uint64_t)at[0] < (uint64_t)a->d.shape[0] &&
      (a->regular == 1 || (uint64_t)at[1] < (uint64_t)a->d.shape[1]))
    return rgi_single_regular(a, at, rank);
  for (int d = 0; d < a->d.dims; d++)
    if ((uint64_t)at[d] >= (uint64_t)a->d.shape[d])
      return NULL;
  *rank = rgi_distribution_is_cyclic(&a->d) ? rgi_distribution_find(&a->d, at, &offset)
                                            : rgi_span_find(&a->d, at, &offset);
  return a->base + a->starts[*rank] + offset * (int64_t)a->element;
}

/* As rgi_single_element, for a patch, if it is one element. */
static inline char *rgi_single_patch(rg_array a, const int64_t lo[], const int64_t hi[],
                                     int *rank) {
  if (!rgi_array_alive(a) || !lo || !hi)
    return NULL;
  for (int d = 0; d < a->d.dims; d++)
    if (lo[d] == INT64_MAX || hi[d] != lo[d] + 1)
      return NULL;
  return rgi_single_at(a, lo, rank);
}

/* Copies one element; of the usual sizes by one load and one store. */
static inline void rgi_single_copy(void *to, const void *from, size_t bytes) {
  switch (bytes) {
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  case 16:
    memcpy(to, from, 16);
    break;
  default:
    memcpy(to, from, bytes);
  }
}

#endif
