/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which parts of a share are free: first fit at the lowest offset, and neighbours
 * grow together again. One process's own; the caller locks. O(log n) for n free
 * ranges. */
#ifndef RGI_SHARE_H
#define RGI_SHARE_H

#include <stddef.h>
#include <stdint.h>

typedef struct rgi_share {
  struct rgi_range *free; /* a tree by offset */
  uint64_t size, left;    /* in bytes: of all, of what is free */
  uint64_t random;
} rgi_share;

/* All of it is free. RG_ERR_NOMEM. */
int rgi_share_open(rgi_share *s, uint64_t size);
void rgi_share_close(rgi_share *s);

/* bytes: rounded up to lines (rgi_share_round). 0: there is no such range; else 1. */
int rgi_share_take(rgi_share *s, uint64_t bytes, uint64_t *offset);

/* Gives back what was taken. Without memory for its own records (then it returns 0)
 * the range stays taken. */
int rgi_share_give(rgi_share *s, uint64_t offset, uint64_t bytes);

/* The longest free range. */
uint64_t rgi_share_longest(const rgi_share *s);

/* To a multiple of a cache line, at least one. */
uint64_t rgi_share_round(uint64_t bytes);

#endif
