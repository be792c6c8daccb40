/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A hash table counts, for each key (members, kind, tag), how many groups this process has created
 * with it. The context mixes key and count. All members create groups of one key in the same order,
 * so they get the same context without a message. Entries are never removed: a later group of the
 * same key must not get an earlier one's context. */
#include "formation/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "runtime/runtime.h"

typedef struct {
  uint64_t key;     /* 0: free */
  uint64_t created; /* how many groups with this key */
} context_entry;

/* Open addressing, at most half full. */
static struct {
  pthread_mutex_t lock;
  context_entry *entries;
  size_t size, used;
  unsigned long epoch; /* the start of the library that the counts belong to */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static context_entry *find_entry(context_entry *entries, size_t size, uint64_t key) {
  size_t at = key & (size - 1);
  while (entries[at].key && entries[at].key != key)
    at = (at + 1) & (size - 1);
  return &entries[at];
}

static int grow_table(void) {
  size_t size = table.size ? 2 * table.size : 256;
  context_entry *entries = rgi_spare_alloc_zeroed(size, sizeof *entries);
  if (!entries)
    return rgi_error(RG_ERR_NOMEM, "no memory for the contexts of %zu groups", size / 2);
  for (size_t i = 0; i < table.size; i++)
    if (table.entries[i].key)
      *find_entry(entries, size, table.entries[i].key) = table.entries[i];
  rgi_spare_free(table.entries);
  table.entries = entries;
  table.size = size;
  return RG_SUCCESS;
}

static int count_creation(uint64_t key, uint64_t *created) {
  if (2 * table.used >= table.size)
    RGI_TRY(grow_table());
  context_entry *e = find_entry(table.entries, table.size, key);
  table.used += !e->key;
  e->key = key;
  *created = e->created++;
  return RG_SUCCESS;
}

/* Every start of the library begins a new count, on all processes. */
static void begin_epoch(void) {
  if (table.epoch == rgi_runtime.epoch)
    return;
  rgi_spare_free(table.entries);
  table.entries = NULL;
  table.size = table.used = 0;
  table.epoch = rgi_runtime.epoch;
}

int rgi_context_next(uint64_t members, rgi_context_kind kind, int tag, uint64_t *context) {
  uint64_t key = rgi_mix_bits(members + rgi_mix_bits((uint64_t)kind << 32 | (uint32_t)tag)) | 1,
           created = 0;
  int error = RG_SUCCESS;
  if (kind != RGI_CONTEXT_WORLD) {
    pthread_mutex_lock(&table.lock);
    begin_epoch();
    error = count_creation(key, &created);
    pthread_mutex_unlock(&table.lock);
  }
  *context = rgi_mix_bits(key + created * 0x9e3779b97f4a7c15u) | 1;
  return error;
}

#define NUMBERED 0x6e756d62u /* sets these contexts apart from those of the table */

uint64_t rgi_context_numbered(uint64_t members, uint64_t number) {
  return rgi_mix_bits(members + rgi_mix_bits(number + NUMBERED)) | 1;
}
