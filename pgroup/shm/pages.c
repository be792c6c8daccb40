/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Two bit maps, one behind the other: taken, backed. A search goes through whole words and counts
 * their trailing zeros. `low` makes the search for a free page begin where the first one may be. To
 * allocate a range the search jumps over each taken page it meets. Neighbours that are free need no
 * merging: they are zeros side by side. The counts of pages are kept with the bits; a process
 * killed between the two leaves a count that is wrong by that range, which only decides when memory
 * goes back to the system. `low` becomes smaller before the pages are free. */
#include "shm/pages.h"

#include <stdatomic.h>

#define WORD 64

static uint64_t word_count(uint64_t count) {
  return (count + WORD - 1) / WORD;
}

size_t rgi_pages_bytes(uint64_t count) {
  return sizeof(rgi_pages) + 2 * word_count(count) * sizeof(uint64_t);
}

static uint64_t *taken_bits(rgi_pages *pages) {
  return pages->bits;
}

static uint64_t *backed_bits(rgi_pages *pages) {
  return pages->bits + word_count(pages->count);
}

/* The first bit in [from, end) that is `value`, or end. */
static uint64_t find_bit(const uint64_t *bits, uint64_t from, uint64_t end, int value) {
  while (from < end) {
    uint64_t word = value ? bits[from / WORD] : ~bits[from / WORD];
    word &= ~(uint64_t)0 << from % WORD;
    if (word) {
      uint64_t at = from / WORD * WORD + (uint64_t)__builtin_ctzll((unsigned long long)word);
      return at < end ? at : end;
    }
    from = (from / WORD + 1) * WORD;
  }
  return end;
}

/* Sets n bits to value; returns how many were different. */
static uint64_t set_bits(uint64_t *bits, uint64_t first, uint64_t n, int value) {
  uint64_t changed = 0;
  while (n > 0) {
    uint64_t in_word = WORD - first % WORD;
    if (in_word > n)
      in_word = n;
    uint64_t mask = (in_word == WORD ? ~(uint64_t)0 : ((uint64_t)1 << in_word) - 1) << first % WORD;
    uint64_t *word = &bits[first / WORD];
    changed +=
        (uint64_t)__builtin_popcountll((unsigned long long)((value ? ~*word : *word) & mask));
    *word = value ? *word | mask : *word & ~mask;
    first += in_word;
    n -= in_word;
  }
  return changed;
}

static uint64_t count_backed(rgi_pages *pages, uint64_t first, uint64_t n) {
  uint64_t bare = 0, end;
  for (uint64_t at = first; at < first + n; at = end) {
    end = first + n;
    if (!rgi_pages_bare(pages, &at, &end))
      break;
    bare += end - at;
  }
  return n - bare;
}

int rgi_pages_alloc(rgi_pages *pages, uint64_t n, rgi_pages_range range, uint64_t *first) {
  pages->low = find_bit(taken_bits(pages), pages->low, pages->count, 0);
  uint64_t begin = pages->low > range.begin ? pages->low : range.begin;
  uint64_t at = find_bit(taken_bits(pages), begin, pages->count, 0);
  while (n <= range.end && at <= range.end - n) {
    uint64_t next = find_bit(taken_bits(pages), at, at + n, 1);
    if (next == at + n) {
      set_bits(taken_bits(pages), at, n, 1);
      pages->spare -= count_backed(pages, at, n);
      *first = at;
      return 1;
    }
    at = find_bit(taken_bits(pages), next, pages->count, 0);
  }
  return 0;
}

void rgi_pages_free(rgi_pages *pages, uint64_t first, uint64_t n) {
  pages->spare += count_backed(pages, first, n);
  if (first < pages->low)
    pages->low = first;
  atomic_signal_fence(memory_order_seq_cst);
  set_bits(taken_bits(pages), first, n, 0);
}

int rgi_pages_bare(const rgi_pages *pages, uint64_t *first, uint64_t *end) {
  const uint64_t *bits = pages->bits + word_count(pages->count);
  uint64_t at = find_bit(bits, *first, *end, 0);
  if (at == *end)
    return 0;
  *first = at;
  *end = find_bit(bits, at, *end, 1);
  return 1;
}

static uint64_t spare_bits(rgi_pages *pages, uint64_t word) {
  return ~taken_bits(pages)[word] & backed_bits(pages)[word];
}

int rgi_pages_idle(rgi_pages *pages, uint64_t *first, uint64_t *end) {
  for (uint64_t at = *first; at < *end; at = (at / WORD + 1) * WORD) {
    uint64_t word = spare_bits(pages, at / WORD) & (~(uint64_t)0 << at % WORD);
    if (!word)
      continue;
    at = at / WORD * WORD + (uint64_t)__builtin_ctzll((unsigned long long)word);
    if (at >= *end)
      return 0;
    *first = at;
    *end = find_bit(taken_bits(pages), at, *end, 1);
    *end = find_bit(backed_bits(pages), at, *end, 0);
    return 1;
  }
  return 0;
}

/* A range is taken or free as a whole. */
static uint64_t spare_of(rgi_pages *pages, uint64_t first, uint64_t changed) {
  return taken_bits(pages)[first / WORD] >> first % WORD & 1 ? 0 : changed;
}

void rgi_pages_back(rgi_pages *pages, uint64_t first, uint64_t n) {
  uint64_t changed = set_bits(backed_bits(pages), first, n, 1);
  pages->backed += changed;
  pages->spare += spare_of(pages, first, changed);
}

void rgi_pages_unback(rgi_pages *pages, uint64_t first, uint64_t n) {
  uint64_t changed = set_bits(backed_bits(pages), first, n, 0);
  pages->backed -= changed;
  pages->spare -= spare_of(pages, first, changed);
}
