/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which ranges of a heap part are free. A block is taken at the lowest offset where it fits, and
 * adjacent free ranges are merged. Each process manages its own part; the caller locks.
 * O(log n) for n free ranges. */
#ifndef RGI_HEAP_PART_H
#define RGI_HEAP_PART_H

#include <stddef.h>
#include <stdint.h>

typedef struct rgi_heap_part {
  struct rgi_heap_part_range *free; /* a tree by offset */
  uint64_t size, left;              /* in bytes: of all, of what is free */
  uint64_t random;
} rgi_heap_part;

/* All of it is free. RG_ERR_NOMEM. */
int rgi_heap_part_open(rgi_heap_part *part, uint64_t size);
void rgi_heap_part_close(rgi_heap_part *part);

/* bytes: a result of rgi_heap_part_round. Returns 0 if no free range is long enough, else 1. */
int rgi_heap_part_take(rgi_heap_part *part, uint64_t bytes, uint64_t *offset);

/* Gives back what was taken. Without memory for its own records (then it returns 0)
 * the range stays taken. */
int rgi_heap_part_give(rgi_heap_part *part, uint64_t offset, uint64_t bytes);

/* The longest free range. */
uint64_t rgi_heap_part_longest(const rgi_heap_part *part);

/* Up to a multiple of a cache line, at least one. */
uint64_t rgi_heap_part_round(uint64_t bytes);

#endif
