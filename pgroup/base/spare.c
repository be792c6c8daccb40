/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The room is a row of blocks, each behind a line with its length. A search takes the first free
 * one that is long enough, and joins free neighbours on its way. */
#include "base/spare.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define LINES ((1u << 20) / LINE)

typedef union {
  struct {
    uint32_t lines, used; /* lines: with this one; 0: nothing has been taken yet */
  };
  char bytes[LINE];
} spare_line;

static _Alignas(LINE) spare_line room[LINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void join_free(spare_line *block) {
  const spare_line *end = room + LINES;
  while (block + block->lines < end && !block[block->lines].used)
    block->lines += block[block->lines].lines;
}

/* Takes the first lines of a free block. */
static void *take(spare_line *block, uint32_t lines) {
  if (block->lines > lines) {
    block[lines].lines = block->lines - lines;
    block[lines].used = 0;
  }
  block->lines = lines;
  block->used = 1;
  return block + 1;
}

static void *take_first(uint32_t lines) {
  void *found = NULL;
  pthread_mutex_lock(&lock);
  if (!room->lines)
    room->lines = LINES;
  for (spare_line *block = room; block < room + LINES && !found; block += block->lines) {
    if (block->used)
      continue;
    join_free(block);
    if (block->lines >= lines)
      found = take(block, lines);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void *rgi_spare_alloc(size_t bytes) {
  void *block = malloc(bytes ? bytes : 1);
  if (block || bytes > sizeof room - LINE)
    return block;
  return take_first(1 + (uint32_t)((bytes + LINE - 1) / LINE));
}

void *rgi_spare_alloc_zeroed(size_t n, size_t bytes) {
  if (bytes && n > SIZE_MAX / bytes)
    return NULL;
  void *block = rgi_spare_alloc(n * bytes);
  return block ? memset(block, 0, n * bytes) : NULL;
}

static int is_in_room(const void *block) {
  return (uintptr_t)block > (uintptr_t)room && (uintptr_t)block < (uintptr_t)(room + LINES);
}

void *rgi_spare_shrink(void *block, size_t bytes) {
  void *shrunk = is_in_room(block) ? NULL : realloc(block, bytes);
  return shrunk ? shrunk : block;
}

void rgi_spare_free(void *block) {
  spare_line *line = block;
  if (!is_in_room(block)) {
    free(block);
    return;
  }
  pthread_mutex_lock(&lock);
  line[-1].used = 0;
  pthread_mutex_unlock(&lock);
}
