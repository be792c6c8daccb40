/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finding a walker's record by its key: those of the list at first have the keys 1, 2, ..., those
 * that were made are in a table of this process's, which follows the node's list of them. */
#include <stdlib.h>

#include "base/error.h"
#include "walkers/record.h"
#include "walkers/vault.h"

static void place(rgi_index *t, uint64_t key, uint64_t offset) {
  size_t at = key % t->room;
  while (t->at[at].key && t->at[at].key != key)
    at = (at + 1) % t->room;
  t->count += t->at[at].key == 0;
  t->at[at].key = key;
  t->at[at].offset = offset;
}

static int grow(rgi_index *t) {
  rgi_index more = {.room = 4 * t->room + 61, .head = t->head};
  if (2 * (t->count + 1) < t->room)
    return RG_SUCCESS;
  more.at = calloc(more.room, sizeof *more.at);
  if (!more.at)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %zu walkers", more.room);
  for (size_t i = 0; i < t->room; i++)
    if (t->at[i].key)
      place(&more, t->at[i].key, t->at[i].offset);
  free(t->at);
  *t = more;
  return RG_SUCCESS;
}

static uint64_t look_up(const rgi_index *t, uint64_t key) {
  if (t->room == 0)
    return 0;
  size_t at = key % t->room;
  while (t->at[at].key && t->at[at].key != key)
    at = (at + 1) % t->room;
  uint64_t found = t->at[at].key ? t->at[at].offset : 0;
  return found && rgi_record_at(found)->key == key ? found : 0;
}

/* Of two records of a walker the newer one counts; else the one that was first. */
static int add(rgi_index *t, uint64_t offset) {
  rgi_record *r = rgi_record_at(offset);
  if (!r->key)
    return RG_SUCCESS;
  RGI_TRY(grow(t));
  uint64_t other = look_up(t, r->key);
  if (!other || !rgi_version_newer(rgi_record_current(rgi_record_at(other)), rgi_record_current(r)))
    place(t, r->key, offset);
  return RG_SUCCESS;
}

static int catch_up(rg_balancer b) {
  uint64_t head = atomic_load(&b->vault->born), was = b->index.head;
  for (uint64_t at = head; at != was; at = rgi_record_at(at)->earlier)
    RGI_TRY(add(&b->index, at));
  b->index.head = head;
  return RG_SUCCESS;
}

void rgi_vault_forget(rg_balancer b) {
  free(b->index.at);
  b->index = (rgi_index){0};
}

int rgi_vault_find(rg_balancer b, uint64_t key, uint64_t *offset) {
  *offset = 0;
  if (key <= (uint64_t)b->vault->count) {
    *offset = key ? rgi_vault_place(b, (int64_t)key - 1) : 0;
    return RG_SUCCESS;
  }
  RGI_TRY(catch_up(b));
  *offset = look_up(&b->index, key);
  return RG_SUCCESS;
}

/* Whether a walker that was made counts: it is the record of its key, and its mother knows of it.
 */
static int counts(rg_balancer b, uint64_t at, int *yes) {
  uint64_t found, mother;
  const rgi_record *r = rgi_record_at(at);
  RGI_TRY(rgi_vault_find(b, r->key, &found));
  RGI_TRY(rgi_vault_find(b, r->mother, &mother));
  *yes = found == at && mother && rgi_record_current(rgi_record_at(mother))->born > r->number;
  return RG_SUCCESS;
}

int rgi_vault_sweep(rg_balancer b) {
  rgi_vault_forget(b);
  for (int changed = 1, yes; changed;) {
    changed = 0;
    for (uint64_t at = atomic_load(&b->vault->born); at; at = rgi_record_at(at)->earlier) {
      rgi_record *r = rgi_record_at(at);
      if (!r->key)
        continue;
      RGI_TRY(counts(b, at, &yes));
      changed |= !yes;
      r->key = yes ? r->key : 0;
    }
  }
  rgi_vault_forget(b);
  return RG_SUCCESS;
}
