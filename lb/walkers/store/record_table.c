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
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_table.h"
#include "walkers/store/store.h"

static int add_entry(rgi_record_table *t, const rgi_record_table_entry *e) {
  if (t->count == t->room) {
    int64_t room = 2 * t->room + 64;
    rgi_record_table_entry *more = realloc(t->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for a table of %lld walkers", (long long)room);
    t->at = more;
    t->room = room;
  }
  t->at[t->count++] = *e;
  return RG_SUCCESS;
}

void rgi_record_table_free(rgi_record_table *t) {
  free(t->at);
  *t = (rgi_record_table){0};
}

int rgi_record_table_read(rgi_record_table *t, rgi_record_index *index, int node) {
  uint64_t found;
  t->count = 0;
  for (uint64_t at = rgi_store_next(index->store, 0); at; at = rgi_store_next(index->store, at)) {
    rgi_record *r = rgi_record_at(at);
    const rgi_record_version *v = rgi_record_current(r);
    RGI_TRY(rgi_record_index_find(index, r->key, &found));
    if (!r->key || found != at || v->done == RGI_RECORD_ABSENT)
      continue;
    RGI_TRY(add_entry(t, &(rgi_record_table_entry){.key = r->key,
                                                   .parent = r->parent,
                                                   .number = r->number,
                                                   .born = v->born,
                                                   .done = v->done,
                                                   .met = v->met,
                                                   .id = r->id,
                                                   .least = r->least,
                                                   .most = r->most,
                                                   .left = v->left,
                                                   .unit = r->unit,
                                                   .ended = v->ended,
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

void rgi_record_table_merge(rgi_record_table *t, const uint64_t domain[]) {
  int64_t n = 0;
  if (t->count > 0)
    qsort(t->at, (size_t)t->count, sizeof *t->at, compare_entries);
  for (int64_t i = 0; i < t->count; i++) {
    rgi_record_table_entry *last = n ? &t->at[n - 1] : NULL;
    if (!last || last->key != t->at[i].key)
      t->at[n++] = t->at[i];
    else if (same_version(last, &t->at[i]) && last->other < 0 &&
             domain[t->at[i].holder] != domain[last->holder])
      last->other = t->at[i].holder;
  }
  t->count = n;
}

static int compare_keys(const void *key, const void *entry) {
  uint64_t x = *(const uint64_t *)key, y = ((const rgi_record_table_entry *)entry)->key;
  return (x > y) - (x < y);
}

rgi_record_table_entry *rgi_record_table_find(const rgi_record_table *t, uint64_t key) {
  return t->count ? bsearch(&key, t->at, (size_t)t->count, sizeof *t->at, compare_keys) : NULL;
}

/* --- which count ------------------------------------------------------------------------------ */

static int is_counted(const rgi_record_table *t, const rgi_record_table_entry *e) {
  const rgi_record_table_entry *parent = rgi_record_table_find(t, e->parent);
  return !e->parent || (parent && parent->counts && e->number < parent->born);
}

void rgi_record_table_mark(rgi_record_table *t) {
  for (int64_t i = 0; i < t->count; i++)
    t->at[i].counts = 1, t->at[i].children = 0;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int64_t i = 0; i < t->count; i++) {
      int counts = t->at[i].counts;
      t->at[i].counts = counts && is_counted(t, &t->at[i]);
      changed |= counts != t->at[i].counts;
    }
  }
  for (int64_t i = 0; i < t->count; i++) {
    rgi_record_table_entry *parent =
        t->at[i].counts ? rgi_record_table_find(t, t->at[i].parent) : NULL;
    if (parent)
      parent->children++;
  }
}
