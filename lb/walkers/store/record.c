/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A version is written into blocks of its own, which are kept for the versions after it. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "shm/arena.h"
#include "walkers/store/record.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

rgi_record_version *rgi_record_begin(rgi_record *record) {
  rgi_record_version *version = rgi_record_next(record), kept = *version;
  atomic_store(&record->prepared, 0);
  *version = *rgi_record_current(record);
  version->state = kept.state;
  version->room = kept.room;
  version->text = kept.text;
  version->has = 0;
  return version;
}

int rgi_record_set_state(rgi_record_version *version, const void *state, size_t bytes) {
  if (version->state && version->room < bytes) {
    rgi_arena_free(version->state, version->room);
    version->state = 0;
  }
  if (!version->state) {
    RGI_TRY(rgi_arena_alloc("the state of a walker", bytes ? bytes : 1, &version->state));
    version->room = bytes ? bytes : 1;
  }
  if (bytes)
    memcpy(rgi_arena_at(version->state), state, bytes);
  version->bytes = bytes;
  version->has = 1;
  return RG_SUCCESS;
}

int rgi_record_set_text(rgi_record_version *version, const char *text) {
  if (!*text)
    return RG_SUCCESS;
  if (!version->text)
    RGI_TRY(rgi_arena_alloc("what was wrong", RGI_OUTCOME_TEXT, &version->text));
  snprintf(rgi_arena_at(version->text), RGI_OUTCOME_TEXT, "%s", text);
  return RG_SUCCESS;
}

void rgi_record_switch(rgi_record *record) {
  atomic_fetch_add(&record->now, 1);
}

int rgi_record_fill(rgi_record *record, const rgi_queue_entry *entry, uint64_t key, int run) {
  memset(record, 0, sizeof *record);
  record->key = key;
  record->id = entry->id;
  record->least = entry->least;
  record->most = entry->most;
  record->unit = entry->unit;
  record->home = -1;
  record->version[0].left = entry->left;
  record->version[0].met = entry->met;
  record->version[0].run = run;
  return entry->memory ? rgi_record_set_state(&record->version[0], entry->memory, entry->bytes)
                       : RG_SUCCESS;
}
