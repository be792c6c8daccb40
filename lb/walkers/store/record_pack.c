/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Records go between nodes when a walker does, as copies for a buddy (buddy.c), and after a death
 * (record_exchange.c). Taking in the same record twice, or an old one late, changes nothing; so an
 * exchange that a death interrupts is simply done again. Children are taken in before the parents
 * that count them: so whenever the process is killed, every child that is counted is there. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "shm/arena.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/store.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

/* A record; then the state and the text, if there are any. */
typedef struct {
  uint64_t bytes; /* of all this */
  uint64_t key, parent;
  int64_t number, id, least, most;
  double unit;
  rgi_record_version version; /* its blocks mean nothing here, except whether there are any */
} packed_record;

static size_t whole_words(size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

static size_t state_bytes(const rgi_record_version *version) {
  return version->has ? whole_words(version->bytes) : 0;
}

static int has_text(const rgi_record_version *version) {
  return version->error && version->text;
}

static int make_room(rgi_record_pack *pack, size_t bytes) {
  if (pack->bytes + bytes <= pack->room)
    return RG_SUCCESS;
  size_t room = 2 * pack->room + bytes;
  char *more = realloc(pack->memory, room);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of walkers", room);
  pack->memory = more;
  pack->room = room;
  return RG_SUCCESS;
}

int rgi_record_pack_add(rgi_record_pack *pack, uint64_t offset) {
  rgi_record *record = rgi_record_at(offset);
  const rgi_record_version *version = rgi_record_current(record);
  size_t state = state_bytes(version),
         bytes = sizeof(packed_record) + state + (has_text(version) ? RGI_OUTCOME_TEXT : 0);
  RGI_TRY(make_room(pack, bytes));
  char *to = pack->memory + pack->bytes;
  packed_record packed = {.bytes = bytes,
                          .key = record->key,
                          .parent = record->parent,
                          .number = record->number,
                          .id = record->id,
                          .least = record->least,
                          .most = record->most,
                          .unit = record->unit,
                          .version = *version};
  memset(to, 0, bytes);
  memcpy(to, &packed, sizeof packed);
  if (state)
    memcpy(to + sizeof packed, rgi_arena_at(version->state), version->bytes);
  if (has_text(version))
    memcpy(to + sizeof packed + state, rgi_arena_at(version->text), RGI_OUTCOME_TEXT);
  pack->bytes += bytes;
  return RG_SUCCESS;
}

void rgi_record_pack_free(rgi_record_pack *pack) {
  rgi_spare_free(pack->memory);
  *pack = (rgi_record_pack){0};
}

/* --- taking in ---------------------------------------------------------------------------- */

static int take_version(rgi_record_version *version, const packed_record *packed) {
  const char *rest = (const char *)(packed + 1);
  rgi_record_version own = *version;
  *version = packed->version;
  version->state = own.state;
  version->room = own.room;
  version->text = own.text;
  version->has = 0;
  if (packed->version.has)
    RGI_TRY(rgi_record_set_state(version, rest, packed->version.bytes));
  return has_text(&packed->version)
             ? rgi_record_set_text(version, rest + state_bytes(&packed->version))
             : RG_SUCCESS;
}

static int make_record(rgi_record_index *index, const packed_record *packed, uint64_t *offset) {
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), offset));
  rgi_record *record = rgi_record_at(*offset);
  memset(record, 0, sizeof *record);
  record->key = packed->key;
  record->parent = packed->parent;
  record->number = packed->number;
  record->id = packed->id;
  record->least = packed->least;
  record->most = packed->most;
  record->unit = packed->unit;
  record->home = -1;
  RGI_TRY(take_version(&record->version[0], packed));
  rgi_store_push(index->store, *offset);
  return RG_SUCCESS;
}

/* The first pass: adds records that are new here. */
static int take_new(rgi_record_index *index, const packed_record *packed) {
  uint64_t offset;
  RGI_TRY(rgi_record_index_find(index, packed->key, &offset));
  return offset ? RG_SUCCESS : make_record(index, packed, &offset);
}

static int take_one(rgi_record_index *index, const packed_record *packed, uint64_t *offset) {
  RGI_TRY(rgi_record_index_find(index, packed->key, offset));
  rgi_record *record = rgi_record_at(*offset);
  if (!rgi_record_newer(&packed->version, rgi_record_current(record)))
    return RG_SUCCESS;
  RGI_TRY(take_version(rgi_record_begin(record), packed));
  rgi_record_switch(record);
  return RG_SUCCESS;
}

static int take_all(rgi_record_index *index, const void *memory, size_t bytes, uint64_t *record) {
  const char *at = memory, *end = at + bytes;
  for (; at < end; at += ((const packed_record *)(const void *)at)->bytes)
    RGI_TRY(take_new(index, (const void *)at));
  for (at = memory; at < end; at += ((const packed_record *)(const void *)at)->bytes)
    RGI_TRY(take_one(index, (const void *)at, record));
  return RG_SUCCESS;
}

/* A walker that comes from another node, and a late copy of it for a buddy, may reach two processes
 * of this node at once. Without the lock both write the same version, and both make it valid: then
 * the one before it is. */
int rgi_record_pack_take(rgi_record_index *index, const void *memory, size_t bytes,
                         uint64_t *record) {
  rgi_lock *lock = &index->store->shared->lock;
  RGI_TRY(rgi_lock_acquire(lock, "the lock of the walker store"));
  int error = take_all(index, memory, bytes, record);
  rgi_lock_release(lock);
  return error;
}

/* --- a walker that waits -------------------------------------------------------------- */

int rgi_record_pack_attach(const rgi_store *store, rgi_queue_entry *entry) {
  rgi_record_pack pack = {0};
  if (!store->shared || !entry->record)
    return RG_SUCCESS;
  RGI_TRY(rgi_record_pack_add(&pack, entry->record));
  entry->memory = pack.memory;
  entry->bytes = pack.bytes;
  entry->record = 0;
  return RG_SUCCESS;
}

int rgi_record_pack_detach(rgi_record_index *index, rgi_queue_entry *entry) {
  if (!index->store->shared || entry->record)
    return RG_SUCCESS;
  int error = rgi_record_pack_take(index, entry->memory, entry->bytes, &entry->record);
  rgi_spare_free(entry->memory);
  entry->memory = NULL;
  entry->bytes = 0;
  return error;
}
