/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which pages of the node's arena are taken, and which have memory behind them: two bits for each.
 * The table lies in the arena; the caller holds a lock. A process killed in the middle of a call
 * leaves at most pages that stay unused, never pages that two blocks share. */
#ifndef RGI_PAGES_H
#define RGI_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define RGI_PAGE ((size_t)4096)

typedef struct {
  uint64_t count;  /* pages */
  uint64_t low;    /* all pages below it are taken */
  uint64_t backed; /* pages with memory */
  uint64_t spare;  /* those of them that are free */
  uint64_t bits[];
} rgi_pages;

/* Bytes of the table. All zero, except count, it says: all pages are free and without memory. */
size_t rgi_pages_bytes(uint64_t count);

typedef struct {
  uint64_t begin, end;
} rgi_pages_range;

/* Takes the first n free pages side by side in the range. 0: there are none. */
int rgi_pages_alloc(rgi_pages *pages, uint64_t n, rgi_pages_range range, uint64_t *first);
void rgi_pages_free(rgi_pages *pages, uint64_t first, uint64_t n);

/* Finds the first range without memory in [*first, *end) and stores it there. 0: there is none. */
int rgi_pages_bare(const rgi_pages *pages, uint64_t *first, uint64_t *end);

/* Finds the first range of free pages with memory in [*first, *end) and stores it there. 0: there
 * is none. */
int rgi_pages_idle(rgi_pages *pages, uint64_t *first, uint64_t *end);

/* Notes that pages, all taken or all free, have memory now; that they have none any more. */
void rgi_pages_back(rgi_pages *pages, uint64_t first, uint64_t n);
void rgi_pages_unback(rgi_pages *pages, uint64_t first, uint64_t n);

#endif
