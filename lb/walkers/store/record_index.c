/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers of the first list have the keys 1, 2, ... and are found by arithmetic. For the
 * walkers that units have made each process has a hash table of its own, which it brings up to date
 * from the node's list before a search: it reads the records that have been added since. */
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/store.h"

static void place_record(rgi_record_index *index, uint64_t key, uint64_t offset) {
  size_t at = key % index->room;
  while (index->at[at].key && index->at[at].key != key)
    at = (at + 1) % index->room;
  index->count += index->at[at].key == 0;
  index->at[at].key = key;
  index->at[at].offset = offset;
}

static int grow_index(rgi_record_index *index) {
  rgi_record_index more = {
      .store = index->store, .room = 4 * index->room + 61, .head = index->head};
  if (2 * (index->count + 1) < index->room)
    return RG_SUCCESS;
  more.at = rgi_spare_alloc_zeroed(more.room, sizeof *more.at);
  if (!more.at)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %zu walkers", more.room);
  for (size_t i = 0; i < index->room; i++)
    if (index->at[i].key)
      place_record(&more, index->at[i].key, index->at[i].offset);
  rgi_spare_free(index->at);
  *index = more;
  return RG_SUCCESS;
}

static uint64_t look_up(const rgi_record_index *index, uint64_t key) {
  if (index->room == 0)
    return 0;
  size_t at = key % index->room;
  while (index->at[at].key && index->at[at].key != key)
    at = (at + 1) % index->room;
  uint64_t found = index->at[at].key ? index->at[at].offset : 0;
  return found && rgi_record_at(found)->key == key ? found : 0;
}

/* Of two records of a walker the newer one counts; of equal ones the first. */
static int add_record(rgi_record_index *index, uint64_t offset) {
  rgi_record *record = rgi_record_at(offset);
  if (!record->key)
    return RG_SUCCESS;
  RGI_TRY(grow_index(index));
  uint64_t other = look_up(index, record->key);
  if (!other ||
      !rgi_record_newer(rgi_record_current(rgi_record_at(other)), rgi_record_current(record)))
    place_record(index, record->key, offset);
  return RG_SUCCESS;
}

static int catch_up(rgi_record_index *index) {
  uint64_t head = atomic_load(&index->store->shared->born), was = index->head;
  for (uint64_t at = head; at != was; at = rgi_record_at(at)->earlier)
    RGI_TRY(add_record(index, at));
  index->head = head;
  return RG_SUCCESS;
}

void rgi_record_index_clear(rgi_record_index *index) {
  rgi_spare_free(index->at);
  *index = (rgi_record_index){.store = index->store};
}

int rgi_record_index_find(rgi_record_index *index, uint64_t key, uint64_t *offset) {
  *offset = 0;
  if (key <= (uint64_t)index->store->shared->count) {
    *offset = key ? rgi_store_place(index->store, (int64_t)key - 1) : 0;
    return RG_SUCCESS;
  }
  RGI_TRY(catch_up(index));
  *offset = look_up(index, key);
  return RG_SUCCESS;
}
