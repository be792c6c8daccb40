/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Address space for all parts of a node stands in the arena from the start. Memory is reserved
 * for it in steps as blocks are taken: a page of shared memory that cannot be had would otherwise
 * end the process by a signal when it is first touched. */
#include "engine/heap.h"

#include <pthread.h>

#include "base/error.h"
#include "shm/arena.h"
#include "shm/node.h"

/* Memory is reserved in steps of so many bytes. */
#define STEP ((uint64_t)1 << 20)

rgi_heap_state rgi_heap;

static struct {
  pthread_mutex_t lock;
  rgi_heap_part part;
  uint64_t reserved; /* so many bytes from the start have memory */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t start_of(int place) {
  return (uint64_t)place * rgi_heap.size;
}

static int reserve_memory(const char *what, uint64_t end) {
  if (end <= own.reserved)
    return RG_SUCCESS;
  uint64_t to = (end + STEP - 1) / STEP * STEP;
  RGI_TRY(rgi_arena_heap_commit(what, start_of(rgi_node.me) + own.reserved, to - own.reserved));
  own.reserved = to;
  return RG_SUCCESS;
}

static int take_range(const char *what, uint64_t bytes, uint64_t *offset) {
  uint64_t at;
  if (!rgi_heap_part_take(&own.part, bytes, &at))
    return rgi_error(RG_ERR_NOMEM,
                     "%s: %llu bytes do not fit into this process's heap part of %llu MiB (%llu "
                     "MiB are free, %llu in one piece): set RG_ARRAY_SHARE higher, or free arrays",
                     what, (unsigned long long)bytes, (unsigned long long)own.part.size >> 20,
                     (unsigned long long)own.part.left >> 20,
                     (unsigned long long)rgi_heap_part_longest(&own.part) >> 20);
  int error = reserve_memory(what, at + bytes);
  if (error) {
    rgi_heap_part_give(&own.part, at, bytes);
    return error;
  }
  *offset = at;
  return RG_SUCCESS;
}

int rgi_heap_take(const char *what, size_t bytes, uint64_t *offset) {
  uint64_t size = bytes > INT64_MAX ? UINT64_MAX : rgi_heap_part_round(bytes);
  pthread_mutex_lock(&own.lock);
  int error = take_range(what, size, offset);
  pthread_mutex_unlock(&own.lock);
  return error;
}

void rgi_heap_give(uint64_t offset, size_t bytes) {
  pthread_mutex_lock(&own.lock);
  if (rgi_heap.open)
    rgi_heap_part_give(&own.part, offset, rgi_heap_part_round(bytes));
  pthread_mutex_unlock(&own.lock);
}

void *rgi_heap_at(int world_rank, uint64_t offset) {
  int place = rgi_heap.open ? rgi_node_find(world_rank) : -1;
  return place < 0 ? NULL : rgi_heap.node_heap + start_of(place) + offset;
}

char *rgi_heap_own(void) {
  return rgi_heap.node_heap + start_of(rgi_node.me);
}

int rgi_heap_is_open(void) {
  return rgi_heap.open;
}

int rgi_heap_open(uint64_t size) {
  rgi_heap.size = size;
  rgi_heap.node_heap = rgi_arena_heap();
  own.reserved = 0;
  RGI_TRY(rgi_heap_part_open(&own.part, size));
  rgi_heap.open = 1;
  return RG_SUCCESS;
}

void rgi_heap_close(void) {
  rgi_heap.open = 0;
  rgi_heap_part_close(&own.part);
}
