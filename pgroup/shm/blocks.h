/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Blocks of up to 16 KiB of the node's arena. They have one of 28 sizes, classes. A block is named
 * by its offset; 0 is no block. */
#ifndef RGI_BLOCKS_H
#define RGI_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "shm/lines.h"

#define RGI_BLOCKS_CLASSES 28 /* the last one's blocks are RGI_BLOCKS_LARGEST */
#define RGI_BLOCKS_LARGEST ((size_t)16 << 10)

/* In the segment, all zero at first. */
typedef struct {
  struct {
    _Atomic uint64_t top;        /* of the stack of free blocks */
    _Atomic uint64_t piece, end; /* the rest of the current piece; under the lock */
  } class[RGI_BLOCKS_CLASSES];
  uint64_t gathered; /* how many blocks had been freed when they were last gathered */
} rgi_blocks_table;

typedef struct {
  char *base; /* of the segment, in this process */
  rgi_blocks_table *table;
} rgi_blocks;

/* The class of the smallest blocks that have so many bytes, at most RGI_BLOCKS_LARGEST; what its
 * blocks have. */
int rgi_blocks_class(size_t bytes);
size_t rgi_blocks_bytes(int class);

/* Takes a free block, or 0; frees one. Without a lock. */
uint64_t rgi_blocks_pop(const rgi_blocks *blocks, int class);
void rgi_blocks_push(const rgi_blocks *blocks, int class, uint64_t offset);

/* --- the caller holds a lock ----------------------------------------------------------------- */

/* Cuts a block off the class's current piece. 0: it has no room. */
uint64_t rgi_blocks_cut(const rgi_blocks *blocks, int class);

/* The class's next piece; what is left of the current one becomes free blocks. */
void rgi_blocks_set_piece(const rgi_blocks *blocks, int class, uint64_t at, size_t bytes);

/* Cuts a block off a larger free one, and makes free blocks of other classes of the rest. 0: there
 * is none. */
uint64_t rgi_blocks_split(const rgi_blocks *blocks, int class);

#define RGI_BLOCKS_PAGE_LINES 64

/* Takes all pages that consist of free blocks, also of parts of such: they are the caller's then.
 * The pages are *pages from the offset `first` on; *pages becomes how many come before the end of
 * the last free block. Returns how many lines of each page were free: the pages with
 * RGI_BLOCKS_PAGE_LINES are the caller's. To be freed; NULL: nothing has been freed since the last
 * call, or there is no memory. */
unsigned char *rgi_blocks_gather(const rgi_blocks *blocks, uint64_t first, uint64_t *pages);

#endif
