/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each class has a stack of free blocks in the segment, which any process pops from and pushes to
 * without a lock; the first word of a free block names the next one. The word that holds the top
 * also holds a count of pushes, so that a process that was interrupted between reading the top and
 * replacing it notices any change. A pop acquires and a push releases: what the last owner wrote is
 * visible to the next one. When a stack is empty a block is cut from the class's current piece,
 * under a lock.
 *
 * A process may be killed between any two stores. The next one goes on with the table as it is; at
 * worst some memory stays unused. So a block leaves its stack, or its piece, before it is used, and
 * a piece has no end while its beginning changes. */
#include "shm/blocks.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "shm/pages.h"

#define TOP_MASK (((uint64_t)1 << RGI_LINE_BITS) - 1)

_Static_assert((size_t)RGI_BLOCKS_PAGE_LINES *RGI_LINE == RGI_PAGE, "lines of a page");
_Static_assert(RGI_LINE_BITS <= 64 - 28, "a top has at least 28 bits for its count of pushes");

/* --- sizes ----------------------------------------------------------------- */

/* Lines of a block, by class: 1 2 3 4 5 6 7 8 10 12 14 16 20 ... Four classes for each doubling: at
 * most a fifth of a block is wasted. */
static size_t class_lines(int c) {
  return c < 8 ? (size_t)c + 1 : (size_t)(5 + (c - 8) % 4) << ((c - 8) / 4 + 1);
}

int rgi_blocks_class(size_t bytes) {
  size_t lines = bytes ? (bytes - 1) / RGI_LINE + 1 : 1;
  if (lines <= 8)
    return (int)lines - 1;
  int shift = 63 - __builtin_clzll((unsigned long long)(lines - 1)) - 2;
  return 8 + 4 * (shift - 1) + (int)((lines - 1) >> shift) - 4;
}

size_t rgi_blocks_bytes(int class) {
  return class_lines(class) * RGI_LINE;
}

/* --- free blocks ------------------------------------------------------------- */

static _Atomic uint64_t *link_of(const rgi_blocks *blocks, uint64_t lines) {
  return (void *)(blocks->base + lines * RGI_LINE);
}

uint64_t rgi_blocks_pop(const rgi_blocks *blocks, int class) {
  _Atomic uint64_t *top = &blocks->table->class[class].top;
  uint64_t old = atomic_load_explicit(top, memory_order_acquire), next;
  do {
    if (!(old & TOP_MASK))
      return 0;
    /* Another process may pop the block and write to it meanwhile: then the exchange fails, and
     * what was read is not used. */
    next = atomic_load_explicit(link_of(blocks, old & TOP_MASK), memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(top, &old, (old & ~TOP_MASK) | (next & TOP_MASK),
                                                  memory_order_acquire, memory_order_acquire));
  return (old & TOP_MASK) * RGI_LINE;
}

void rgi_blocks_push(const rgi_blocks *blocks, int class, uint64_t offset) {
  _Atomic uint64_t *top = &blocks->table->class[class].top;
  uint64_t lines = offset / RGI_LINE, old = atomic_load_explicit(top, memory_order_relaxed);
  do
    atomic_store_explicit(link_of(blocks, lines), old & TOP_MASK, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(top, &old,
                                                ((old & ~TOP_MASK) + TOP_MASK + 1) | lines,
                                                memory_order_release, memory_order_relaxed));
}

/* Makes free blocks of a range; returns how many. */
static uint64_t push_range(const rgi_blocks *blocks, uint64_t at, uint64_t end) {
  uint64_t n = 0;
  for (int k = RGI_BLOCKS_CLASSES - 1; at < end; k--)
    for (; rgi_blocks_bytes(k) <= end - at; at += rgi_blocks_bytes(k), n++)
      rgi_blocks_push(blocks, k, at);
  return n;
}

/* --- pieces ------------------------------------------------------------------ */

uint64_t rgi_blocks_cut(const rgi_blocks *blocks, int class) {
  uint64_t at = atomic_load(&blocks->table->class[class].piece);
  if (at + rgi_blocks_bytes(class) > atomic_load(&blocks->table->class[class].end))
    return 0;
  atomic_store(&blocks->table->class[class].piece, at + rgi_blocks_bytes(class));
  return at;
}

void rgi_blocks_set_piece(const rgi_blocks *blocks, int class, uint64_t at, size_t bytes) {
  _Atomic uint64_t *piece = &blocks->table->class[class].piece,
                   *end = &blocks->table->class[class].end;
  uint64_t rest = atomic_load(piece), rest_end = atomic_load(end);
  atomic_store(end, 0);
  push_range(blocks, rest, rest_end);
  atomic_store(piece, at);
  atomic_store(end, at + bytes);
}

uint64_t rgi_blocks_split(const rgi_blocks *blocks, int class) {
  for (int large = class + 1; large < RGI_BLOCKS_CLASSES; large++) {
    uint64_t got = rgi_blocks_pop(blocks, large);
    if (got) {
      push_range(blocks, got + rgi_blocks_bytes(class), got + rgi_blocks_bytes(large));
      return got;
    }
  }
  return 0;
}

/* --- gathering --------------------------------------------------------------- */

static uint64_t count_pushes(const rgi_blocks *blocks) {
  uint64_t n = 0;
  for (int c = 0; c < RGI_BLOCKS_CLASSES; c++)
    n += atomic_load_explicit(&blocks->table->class[c].top, memory_order_relaxed) >> RGI_LINE_BITS;
  return n;
}

/* Takes all blocks of a stack; returns the word that was its top. */
static uint64_t take_stack(const rgi_blocks *blocks, int c) {
  _Atomic uint64_t *top = &blocks->table->class[c].top;
  uint64_t old = atomic_load_explicit(top, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(top, &old, old & ~TOP_MASK, memory_order_acquire,
                                                memory_order_relaxed))
    continue;
  return old;
}

static uint64_t end_of_page(uint64_t at, uint64_t end) {
  uint64_t next = (at / RGI_PAGE + 1) * RGI_PAGE;
  return next < end ? next : end;
}

/* Counts the lines of a stack's blocks; returns where the last one ends. at, end: of a block, from
 * the first page on. */
static uint64_t count_lines(const rgi_blocks *blocks, int c, uint64_t chain, uint64_t first,
                            unsigned char lines[]) {
  uint64_t last = 0;
  for (; chain; chain = atomic_load_explicit(link_of(blocks, chain), memory_order_relaxed)) {
    uint64_t at = chain * RGI_LINE - first, end = at + rgi_blocks_bytes(c);
    for (uint64_t next; at < end; at = next) {
      next = end_of_page(at, end);
      lines[at / RGI_PAGE] = (unsigned char)(lines[at / RGI_PAGE] + (next - at) / RGI_LINE);
    }
    last = last < end ? end : last;
  }
  return last;
}

/* Frees again what is not in a page that is free as a whole; returns how many blocks that makes. */
static uint64_t push_rest(const rgi_blocks *blocks, int c, uint64_t chain, uint64_t first,
                          const unsigned char lines[]) {
  uint64_t n = 0;
  for (uint64_t below; chain; chain = below) {
    below = atomic_load_explicit(link_of(blocks, chain), memory_order_relaxed);
    uint64_t at = chain * RGI_LINE - first, end = at + rgi_blocks_bytes(c), begin = at;
    for (uint64_t next; at < end; at = next) {
      next = end_of_page(at, end);
      if (lines[at / RGI_PAGE] != RGI_BLOCKS_PAGE_LINES)
        continue;
      n += push_range(blocks, first + begin, first + at);
      begin = next;
    }
    n += push_range(blocks, first + begin, first + end);
  }
  return n;
}

unsigned char *rgi_blocks_gather(const rgi_blocks *blocks, uint64_t first, uint64_t *pages) {
  uint64_t chain[RGI_BLOCKS_CLASSES], pushes = 0, end = 0;
  for (int c = 0; c < RGI_BLOCKS_CLASSES; c++)
    rgi_blocks_set_piece(blocks, c, 0, 0);
  unsigned char *lines = count_pushes(blocks) == blocks->table->gathered ? NULL : calloc(*pages, 1);
  if (!lines)
    return NULL;
  for (int c = 0; c < RGI_BLOCKS_CLASSES; c++) {
    uint64_t top = take_stack(blocks, c);
    chain[c] = top & TOP_MASK;
    pushes += top >> RGI_LINE_BITS;
    uint64_t last = count_lines(blocks, c, chain[c], first, lines);
    end = end < last ? last : end;
  }
  for (int c = 0; c < RGI_BLOCKS_CLASSES; c++)
    pushes += push_rest(blocks, c, chain[c], first, lines);
  blocks->table->gathered = pushes;
  *pages = (end + RGI_PAGE - 1) / RGI_PAGE;
  return lines;
}
