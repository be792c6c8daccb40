/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The free ranges are an array in the order of their offsets; no two of them touch. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "engine/heap.h"
#include "shm/lines.h"

uint64_t rgi_heap_part_round(uint64_t bytes) {
  return bytes ? rgi_lines_whole(bytes) : RGI_LINE;
}

/* Makes room for a range before the one at `at`. */
static int insert_range(rgi_heap_part *part, int64_t at, uint64_t start, uint64_t length) {
  RGI_TRY(rgi_grow(&part->free, part->count, &part->room, sizeof *part->free,
                   "no memory for %lld free ranges of a heap part"));
  memmove(&part->free[at + 1], &part->free[at], (size_t)(part->count++ - at) * sizeof *part->free);
  part->free[at] = (rgi_heap_part_range){start, length};
  return RG_SUCCESS;
}

static void remove_range(rgi_heap_part *part, int64_t at) {
  memmove(&part->free[at], &part->free[at + 1], (size_t)(--part->count - at) * sizeof *part->free);
}

int rgi_heap_part_open(rgi_heap_part *part, uint64_t size) {
  *part = (rgi_heap_part){.size = size, .left = size};
  return insert_range(part, 0, 0, size);
}

void rgi_heap_part_close(rgi_heap_part *part) {
  free(part->free);
  *part = (rgi_heap_part){0};
}

uint64_t rgi_heap_part_longest(const rgi_heap_part *part) {
  uint64_t longest = 0;
  for (int64_t i = 0; i < part->count; i++)
    longest = part->free[i].length > longest ? part->free[i].length : longest;
  return longest;
}

int rgi_heap_part_take(rgi_heap_part *part, uint64_t bytes, uint64_t *offset) {
  for (int64_t i = 0; i < part->count; i++) {
    rgi_heap_part_range *range = &part->free[i];
    if (range->length < bytes)
      continue;
    *offset = range->start;
    range->start += bytes;
    range->length -= bytes;
    part->left -= bytes;
    if (!range->length)
      remove_range(part, i);
    return 1;
  }
  return 0;
}

int rgi_heap_part_give(rgi_heap_part *part, uint64_t offset, uint64_t bytes) {
  int64_t at = 0;
  while (at < part->count && part->free[at].start < offset)
    at++;
  rgi_heap_part_range *before = at > 0 ? &part->free[at - 1] : NULL, *behind = &part->free[at];
  int joins_before = before && before->start + before->length == offset;
  int joins_behind = at < part->count && offset + bytes == behind->start;
  if (!joins_before && !joins_behind && insert_range(part, at, offset, bytes) != RG_SUCCESS)
    return 0;
  if (joins_before)
    before->length += bytes + (joins_behind ? behind->length : 0);
  else if (joins_behind)
    *behind = (rgi_heap_part_range){offset, bytes + behind->length};
  if (joins_before && joins_behind)
    remove_range(part, at);
  part->left += bytes;
  return 1;
}
