/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A version counts the walkers that its units have made, which are records of their own. If one of
 * these is on no living node, that version must not be taken up: the walker would never be made
 * again. Such versions are found here, and given up by the nodes that have them
 * (record_exchange.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/spare.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_table.h"
#include "walkers/store/store.h"

static int add_entry(rgi_record_table *table, const rgi_record_table_entry *entry) {
  RGI_TRY(rgi_grow(&table->at, table->count, &table->room, sizeof *table->at,
                   "no memory for a table of %lld walkers"));
  table->at[table->count++] = *entry;
  return RG_SUCCESS;
}

void rgi_record_table_free(rgi_record_table *table) {
  rgi_spare_free(table->at);
  *table = (rgi_record_table){0};
}

int rgi_record_table_read(rgi_record_table *table, rgi_record_index *index, int node) {
  uint64_t found;
  table->count = 0;
  for (uint64_t at = rgi_store_next(index->store, 0); at; at = rgi_store_next(index->store, at)) {
    rgi_record *record = rgi_record_at(at);
    const rgi_record_version *version = rgi_record_current(record);
    RGI_TRY(rgi_record_index_find(index, record->key, &found));
    if (!record->key || found != at || version->done == RGI_RECORD_ABSENT)
      continue;
    RGI_TRY(add_entry(table, &(rgi_record_table_entry){.key = record->key,
                                                       .parent = record->parent,
                                                       .number = record->number,
                                                       .born = version->born,
                                                       .done = version->done,
                                                       .met = version->met,
                                                       .id = record->id,
                                                       .least = record->least,
                                                       .most = record->most,
                                                       .left = version->left,
                                                       .unit = record->unit,
                                                       .ended = version->ended,
                                                       .holder = node,
                                                       .other = -1}));
  }
  return RG_SUCCESS;
}

/* --- one entry of each walker ------------------------------------------------------------- */

/* By keys; of one key the newest first, and of equal versions those of the lowest node. */
static int compare_entries(const void *a, const void *b) {
  const rgi_record_table_entry *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  if (x->ended != y->ended)
    return y->ended - x->ended;
  if (x->done != y->done)
    return x->done > y->done ? -1 : 1;
  if (x->met != y->met)
    return x->met > y->met ? -1 : 1;
  return x->holder - y->holder;
}

static int same_version(const rgi_record_table_entry *a, const rgi_record_table_entry *b) {
  return a->done == b->done && a->met == b->met && a->ended == b->ended;
}

void rgi_record_table_merge(rgi_record_table *table, const uint64_t domain[]) {
  int64_t n = 0;
  if (table->count > 0)
    qsort(table->at, (size_t)table->count, sizeof *table->at, compare_entries);
  for (int64_t i = 0; i < table->count; i++) {
    rgi_record_table_entry *last = n ? &table->at[n - 1] : NULL;
    if (!last || last->key != table->at[i].key)
      table->at[n++] = table->at[i];
    else if (same_version(last, &table->at[i]) && last->other < 0 &&
             domain[table->at[i].holder] != domain[last->holder])
      last->other = table->at[i].holder;
  }
  table->count = n;
}

static int compare_keys(const void *key, const void *entry) {
  uint64_t x = *(const uint64_t *)key, y = ((const rgi_record_table_entry *)entry)->key;
  return (x > y) - (x < y);
}

rgi_record_table_entry *rgi_record_table_find(const rgi_record_table *table, uint64_t key) {
  return table->count
             ? bsearch(&key, table->at, (size_t)table->count, sizeof *table->at, compare_keys)
             : NULL;
}

/* --- which count ------------------------------------------------------------------------------ */

static int is_counted(const rgi_record_table *table, const rgi_record_table_entry *entry) {
  const rgi_record_table_entry *parent = rgi_record_table_find(table, entry->parent);
  return !entry->parent || (parent && parent->counts && entry->number < parent->born);
}

void rgi_record_table_mark(rgi_record_table *table) {
  for (int64_t i = 0; i < table->count; i++)
    table->at[i].counts = 1, table->at[i].children = 0;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int64_t i = 0; i < table->count; i++) {
      int counts = table->at[i].counts;
      table->at[i].counts = counts && is_counted(table, &table->at[i]);
      changed |= counts != table->at[i].counts;
    }
  }
  for (int64_t i = 0; i < table->count; i++) {
    rgi_record_table_entry *parent =
        table->at[i].counts ? rgi_record_table_find(table, table->at[i].parent) : NULL;
    if (parent)
      parent->children++;
  }
}
