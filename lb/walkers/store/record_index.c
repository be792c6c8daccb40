/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers of the first list have the keys 1, 2, ... and are found by arithmetic. For the
 * walkers that units have made each process has a hash table of its own, which it brings up to date
 * from the node's list before a search: it reads the records that have been added since. */
#include <stdlib.h>

#include "base/error.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/store.h"

static void place_record(rgi_record_index *t, uint64_t key, uint64_t offset) {
  size_t at = key % t->room;
  while (t->at[at].key && t->at[at].key != key)
    at = (at + 1) % t->room;
  t->count += t->at[at].key == 0;
  t->at[at].key = key;
  t->at[at].offset = offset;
}

static int grow_index(rgi_record_index *t) {
  rgi_record_index more = {.store = t->store, .room = 4 * t->room + 61, .head = t->head};
  if (2 * (t->count + 1) < t->room)
    return RG_SUCCESS;
  more.at = calloc(more.room, sizeof *more.at);
  if (!more.at)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %zu walkers", more.room);
  for (size_t i = 0; i < t->room; i++)
    if (t->at[i].key)
      place_record(&more, t->at[i].key, t->at[i].offset);
  free(t->at);
  *t = more;
  return RG_SUCCESS;
}

static uint64_t look_up(const rgi_record_index *t, uint64_t key) {
  if (t->room == 0)
    return 0;
  size_t at = key % t->room;
  while (t->at[at].key && t->at[at].key != key)
    at = (at + 1) % t->room;
  uint64_t found = t->at[at].key ? t->at[at].offset : 0;
  return found && rgi_record_at(found)->key == key ? found : 0;
}

/* Of two records of a walker the newer one counts; of equal ones the first. */
static int add_record(rgi_record_index *t, uint64_t offset) {
  rgi_record *r = rgi_record_at(offset);
  if (!r->key)
    return RG_SUCCESS;
  RGI_TRY(grow_index(t));
  uint64_t other = look_up(t, r->key);
  if (!other || !rgi_record_newer(rgi_record_current(rgi_record_at(other)), rgi_record_current(r)))
    place_record(t, r->key, offset);
  return RG_SUCCESS;
}

static int catch_up(rgi_record_index *t) {
  uint64_t head = atomic_load(&t->store->shared->born), was = t->head;
  for (uint64_t at = head; at != was; at = rgi_record_at(at)->earlier)
    RGI_TRY(add_record(t, at));
  t->head = head;
  return RG_SUCCESS;
}

void rgi_record_index_clear(rgi_record_index *t) {
  free(t->at);
  *t = (rgi_record_index){.store = t->store};
}

int rgi_record_index_find(rgi_record_index *t, uint64_t key, uint64_t *offset) {
  *offset = 0;
  if (key <= (uint64_t)t->store->shared->count) {
    *offset = key ? rgi_store_place(t->store, (int64_t)key - 1) : 0;
    return RG_SUCCESS;
  }
  RGI_TRY(catch_up(t));
  *offset = look_up(t, key);
  return RG_SUCCESS;
}
