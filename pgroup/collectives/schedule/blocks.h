/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Blocks of a vector, one for each rank: all of the same size, or with arrays of offsets and
 * lengths. */
#ifndef RGI_BLOCKS_H
#define RGI_BLOCKS_H

#include <stddef.h>

typedef struct {
  size_t each;
  const size_t *at, *length;
} rgi_blocks;

static inline size_t rgi_blocks_at(const rgi_blocks *blocks, int i) {
  return blocks->at ? blocks->at[i] : (size_t)i * blocks->each;
}

static inline size_t rgi_blocks_length(const rgi_blocks *blocks, int i) {
  return blocks->length ? blocks->length[i] : blocks->each;
}

#endif
