/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The store is a slot of the arena that the processes of the balancer on this node share. In it lie
 * the records of the first list of walkers, whose keys are 1, 2, ...; those of later lists, whose
 * keys go on, and of walkers that units have made are blocks of their own in a linked list. Records
 * are only ever added at the list's head, by compare and exchange, after all their fields are set:
 * so any process can read the list while others add. A record's valid version and the list's head
 * are read and changed by sequentially consistent atomics; all else is written before the atomic
 * that makes it visible. The last process to detach frees all blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/members.h"
#include "progress/slot.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "walkers/store/record.h"
#include "walkers/store/store.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

int rgi_store_spans_nodes(const rgi_store *store) {
  return store->shared && rgi_membership_spans_nodes(store->members);
}

/* --- open, fill, close ------------------------------------------------------------------ */

uint64_t rgi_store_place(const rgi_store *store, int64_t i) {
  const char *base = rgi_arena_at(store->slot);
  return store->slot + (uint64_t)((const char *)&store->shared->record[i] - base);
}

int rgi_store_open(rgi_store *store, rgi_queue *list) {
  void *memory;
  size_t bytes = sizeof(rgi_store_shared) + (size_t)list->count * sizeof(rgi_record);
  if (!store->shared) {
    uint64_t key =
        rgi_mix_bits(store->members->first_context + 0x7661756c) + (uint64_t)store->dropped;
    /* As they were at first: one may attach before a death, and another one after it. */
    int users = rgi_members_here(store->members->first->members);
    RGI_TRY(rgi_slot_attach(rgi_mix_bits(key), users, bytes, &store->slot, &memory));
    store->shared = memory;
  }
  for (int i = 0; i < list->count && store->lists == 0; i++)
    list->at[i].record = rgi_store_place(store, i);
  return RG_SUCCESS;
}

static int fill_first(rgi_store *store, const rgi_queue *list, int run) {
  for (int i = 0; i < list->count; i++)
    RGI_TRY(rgi_record_fill(&store->shared->record[i], &list->at[i], (uint64_t)i + 1, run));
  store->shared->count = list->count;
  return RG_SUCCESS;
}

/* A death may interrupt it: then a walker gets a second record, which is removed with those that
 * do not count. */
int rgi_store_fill(rgi_store *store, const rgi_queue *list, int run) {
  uint64_t at;
  if (store->lists == 0)
    return fill_first(store, list, run);
  for (int i = 0; i < list->count; i++) {
    RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), &at));
    RGI_TRY(
        rgi_record_fill(rgi_record_at(at), &list->at[i], (uint64_t)(store->walkers + i) + 1, run));
    rgi_store_push(store, at);
  }
  return RG_SUCCESS;
}

void rgi_store_filled(rgi_store *store, const rgi_queue *list) {
  store->filled = 1;
  store->lists++;
  store->walkers += list->count;
}

static void give_version(const rgi_record_version *version) {
  if (version->state)
    rgi_arena_free(version->state, version->room);
  if (version->text)
    rgi_arena_free(version->text, RGI_OUTCOME_TEXT);
}

static void give_record(const rgi_record *record) {
  for (size_t i = 0; i < sizeof record->version / sizeof *record->version; i++)
    give_version(&record->version[i]);
}

/* Frees all records, when the last process detaches. */
static int give_all(const void *memory, int users) {
  const rgi_store_shared *v = memory;
  (void)users;
  for (int64_t i = 0; i < v->count; i++)
    give_record(&v->record[i]);
  for (uint64_t at = atomic_load(&v->born), earlier; at; at = earlier) {
    earlier = rgi_record_at(at)->earlier;
    give_record(rgi_record_at(at));
    rgi_arena_free(at, sizeof(rgi_record));
  }
  return 1;
}

void rgi_store_close(rgi_store *store) {
  if (store->shared && rgi_runtime.started)
    rgi_slot_detach(store->slot, give_all);
  store->shared = NULL;
  store->filled = store->lists = 0;
  store->walkers = 0;
}

/* --- all walkers ------------------------------------------------------------------------------ */

uint64_t rgi_store_next(const rgi_store *store, uint64_t offset) {
  uint64_t first = rgi_store_place(store, 0), end = rgi_store_place(store, store->shared->count);
  uint64_t next = offset ? offset + sizeof(rgi_record) : first;
  if (!offset || (offset >= first && offset < end))
    return next < end ? next : atomic_load(&store->shared->born);
  return rgi_record_at(offset)->earlier;
}

void rgi_store_push(rgi_store *store, uint64_t offset) {
  _Atomic uint64_t *head = &store->shared->born;
  rgi_record *record = rgi_record_at(offset);
  record->earlier = atomic_load(head);
  while (!atomic_compare_exchange_weak(head, &record->earlier, offset))
    ;
}

static int by_key(const void *a, const void *b) {
  const rgi_queue_entry *x = a, *y = b;
  uint64_t of_x = rgi_record_at(x->record)->key, of_y = rgi_record_at(y->record)->key;
  return (of_x > of_y) - (of_x < of_y);
}

int rgi_store_read(const rgi_store *store, rgi_queue *list) {
  rgi_queue_free(list);
  for (uint64_t at = rgi_store_next(store, 0); at; at = rgi_store_next(store, at)) {
    const rgi_record *record = rgi_record_at(at);
    if (!record->key || record->ended)
      continue;
    rgi_queue_entry entry = {.id = record->id,
                             .least = record->least,
                             .most = record->most,
                             .left = record->left,
                             .unit = record->unit,
                             .record = at};
    RGI_TRY(rgi_queue_add(list, &entry));
  }
  if (list->count > 0)
    qsort(list->at, (size_t)list->count, sizeof *list->at, by_key);
  return RG_SUCCESS;
}

int rgi_store_load(const rgi_queue_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory) {
  const rgi_record_version *version = rgi_record_current(rgi_record_at(entry->record));
  *done = version->done;
  *left = version->left;
  *bytes = -1;
  *memory = NULL;
  if (!version->has)
    return RG_SUCCESS;
  *memory = rgi_spare_alloc(version->bytes ? version->bytes : 1);
  if (!*memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker",
                     (size_t)version->bytes);
  memcpy(*memory, rgi_arena_at(version->state), version->bytes);
  *bytes = (int64_t)version->bytes;
  return RG_SUCCESS;
}

int64_t rgi_store_met(const rgi_queue_entry *entry) {
  return rgi_record_current(rgi_record_at(entry->record))->met;
}

/* --- outcomes --------------------------------------------------------------------------------- */

static int add_ended(const rgi_record *record, const rgi_record_version *version,
                     rgi_outcome_list *list) {
  rg_balance_outcome outcome = {
      .id = record->id,
      .error = version->error,
      .rank = version->rank,
      .text = version->error && version->text ? rgi_arena_at(version->text) : "",
      .done = version->done,
      .seconds = version->seconds,
      .state = version->has && !version->error ? rgi_arena_at(version->state) : NULL,
      .bytes = version->has && !version->error ? version->bytes : 0,
      .unit = version->unit,
      .run = version->run,
      .missed = version->missed,
      .met = version->met};
  return rgi_outcome_list_insert(list, &outcome);
}

static int is_member(const rgi_store *store, int world_rank) {
  return rgi_members_find(store->members->group->members, world_rank) >= 0;
}

int rgi_store_outcomes(const rgi_store *store, int all, rgi_outcome_list *list) {
  for (uint64_t at = rgi_store_next(store, 0); at; at = rgi_store_next(store, at)) {
    rgi_record *record = rgi_record_at(at);
    const rgi_record_version *version = rgi_record_current(record);
    int mine = all || version->leader == rgi_runtime.rank ||
               (record->home == store->members->rank && !is_member(store, version->leader));
    if (record->key && version->ended && mine)
      RGI_TRY(add_ended(record, version, list));
  }
  return RG_SUCCESS;
}
