/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The order of the stores keeps the walker store consistent if the process is killed between any
 * two of them: first the version that is not valid is written, then the children that the unit has
 * made are added to the node's list, then the version becomes valid. A process killed before that
 * leaves at most children that their parent's version has not counted; the sweep after the death
 * removes them.
 *
 * A meeting makes new versions of several walkers, which count together. All are written and marked
 * as prepared; then that of the first walker becomes valid, which decides; then the others'. No
 * group works on any of them meanwhile. After a death those that are prepared become valid if the
 * first one's is. */
#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "walkers/store/buddy.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_write.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"
#include "walkers/team/queue.h"

/* Adds the record of a child: before the version of its parent that counts it is valid. */
static int make_child(rgi_buddy *buddy, const rgi_record *parent, int64_t number, int run,
                      rgi_queue_entry *entry) {
  const rgi_membership *members = buddy->index->store->members;
  uint64_t key = rgi_mix_bits(parent->key + rgi_mix_bits((uint64_t)number + 1)) | (uint64_t)1 << 63;
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), &entry->record));
  rgi_record *record = rgi_record_at(entry->record);
  RGI_TRY(rgi_record_fill(record, entry, key, run));
  record->version[0].ended = entry->ended;
  record->version[0].rank = rgi_membership_first_rank(members, members->rank);
  record->version[0].leader = rgi_runtime.rank;
  record->parent = parent->key;
  record->number = number;
  rgi_store_push(buddy->index->store, entry->record);
  return rgi_buddy_add(buddy, entry->record);
}

/* Outcomes that a unit has added are stored now; they wait for no group. */
static void take_off_ended(rgi_queue *born) {
  int rest = 0;
  for (int i = 0; i < born->count; i++)
    if (!born->at[i].ended)
      born->at[rest++] = born->at[i];
  born->count = rest;
}

static int keep_children(rgi_buddy *buddy, const rgi_record *parent, rgi_record_version *version,
                         rgi_queue *born) {
  for (int i = 0; i < born->count; i++) {
    rgi_queue_entry *entry = &born->at[i];
    if (entry->record)
      continue; /* stored after an earlier unit; it is in the list until the round ends */
    RGI_TRY(make_child(buddy, parent, version->born++, version->run, entry));
    rgi_spare_free(entry->memory);
    entry->memory = NULL;
    entry->bytes = 0;
  }
  take_off_ended(born);
  return RG_SUCCESS;
}

int rgi_record_write_unit(rgi_buddy *buddy, const rgi_record_write_walker *walker,
                          rgi_queue *born) {
  rgi_record *record = rgi_record_at(walker->record);
  rgi_record_version *version = rgi_record_begin(record);
  if (walker->state)
    RGI_TRY(rgi_record_set_state(version, walker->state, walker->bytes));
  version->done = walker->done;
  version->left = walker->left;
  RGI_TRY(keep_children(buddy, record, version, born));
  rgi_record_switch(record);
  return rgi_buddy_send(buddy, walker->record, 0);
}

static int prepare(const rgi_record_write_walker *walker, uint64_t decides) {
  rgi_record *record = rgi_record_at(walker->record);
  rgi_record_version *version = rgi_record_begin(record);
  if (walker->state)
    RGI_TRY(rgi_record_set_state(version, walker->state, walker->bytes));
  version->done = walker->done;
  version->left = walker->left;
  version->met = walker->met;
  record->decides = decides;
  atomic_store(&record->prepared, atomic_load(&record->now) + 1);
  return RG_SUCCESS;
}

int rgi_record_write_meeting(rgi_buddy *buddy, int64_t n, const rgi_record_write_walker walker[]) {
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(prepare(&walker[i], rgi_record_at(walker[0].record)->key));
  for (int64_t i = 0; i < n; i++)
    rgi_record_switch(rgi_record_at(walker[i].record));
  for (int64_t i = 0; i < n - 1; i++)
    RGI_TRY(rgi_buddy_add(buddy, walker[i].record));
  return rgi_buddy_send(buddy, walker[n - 1].record, 1);
}

int rgi_record_write_settle(rgi_record_index *index) {
  uint64_t first;
  atomic_store(&index->store->shared->lock.owner.value, 0); /* its owner may have died */
  for (uint64_t at = rgi_store_next(index->store, 0); at; at = rgi_store_next(index->store, at)) {
    rgi_record *record = rgi_record_at(at);
    if (!record->key || atomic_load(&record->prepared) != atomic_load(&record->now) + 1)
      continue;
    RGI_TRY(rgi_record_index_find(index, record->decides, &first));
    if (first && rgi_record_current(rgi_record_at(first))->met >= rgi_record_next(record)->met)
      rgi_record_switch(record);
  }
  return RG_SUCCESS;
}

int rgi_record_write_outcome(rgi_buddy *buddy, uint64_t place, const rg_balance_outcome *outcome,
                             rgi_queue *born) {
  rgi_record *record = rgi_record_at(place);
  rgi_record_version *version = rgi_record_begin(record);
  if (outcome->state)
    RGI_TRY(rgi_record_set_state(version, outcome->state, outcome->bytes));
  RGI_TRY(rgi_record_set_text(version, outcome->text));
  version->ended = 1;
  version->error = outcome->error;
  version->rank = outcome->rank;
  version->done = outcome->done;
  version->seconds = outcome->seconds;
  version->unit = outcome->unit;
  version->missed = outcome->missed;
  version->leader = rgi_runtime.rank;
  if (born)
    RGI_TRY(keep_children(buddy, record, version, born));
  rgi_record_switch(record);
  return rgi_buddy_send(buddy, place, 1);
}
