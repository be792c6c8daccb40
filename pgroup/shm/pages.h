/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which pages of the node's arena are free, and which have memory behind them: two
 * bits for each. Free neighbours grow together by themselves. In the arena; the
 * caller locks. Whoever dies in the middle leaves pages that nobody uses, never
 * pages that two use. */
#ifndef RGI_PAGES_H
#define RGI_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define RGI_PAGE ((size_t)4096)

typedef struct {
  uint64_t count; /* of pages */
  uint64_t low;   /* below it all are taken */
  uint64_t backed;
  uint64_t spare; /* backed, and free */
  uint64_t bits[];
} rgi_pages;

/* Bytes of the structure; all zero, but count: everything is free and bare. */
size_t rgi_pages_bytes(uint64_t count);

/* The first n free pages side by side that end at `limit` or before. 0: there are
 * none. */
int rgi_pages_alloc(rgi_pages *p, uint64_t n, uint64_t limit, uint64_t *first);
void rgi_pages_free(rgi_pages *p, uint64_t first, uint64_t n);

/* The next range without memory from *first on: it begins at *first and ends
 * before *end, which is lowered. 0: there is none. */
int rgi_pages_bare(const rgi_pages *p, uint64_t *first, uint64_t *end);

/* Taken pages have memory now; free ones have none any more. */
void rgi_pages_back(rgi_pages *p, uint64_t first, uint64_t n);
void rgi_pages_unback(rgi_pages *p, uint64_t first, uint64_t n);

#endif
