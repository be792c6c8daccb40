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
static int make_child(rgi_buddy *k, const rgi_record *parent, int64_t number, int run,
                      rgi_queue_entry *e) {
  const rgi_membership *m = k->index->store->members;
  uint64_t key = rgi_mix_bits(parent->key + rgi_mix_bits((uint64_t)number + 1)) | (uint64_t)1 << 63;
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), &e->record));
  rgi_record *r = rgi_record_at(e->record);
  RGI_TRY(rgi_record_fill(r, e, key, run));
  r->version[0].ended = e->ended;
  r->version[0].rank = rgi_membership_first_rank(m, m->rank);
  r->version[0].leader = rgi_runtime.rank;
  r->parent = parent->key;
  r->number = number;
  rgi_store_push(k->index->store, e->record);
  return rgi_buddy_add(k, e->record);
}

/* Outcomes that a unit has added are stored now; they wait for no group. */
static void take_off_ended(rgi_queue *born) {
  int rest = 0;
  for (int i = 0; i < born->count; i++)
    if (!born->at[i].ended)
      born->at[rest++] = born->at[i];
  born->count = rest;
}

static int keep_children(rgi_buddy *k, const rgi_record *parent, rgi_record_version *v,
                         rgi_queue *born) {
  for (int i = 0; i < born->count; i++) {
    rgi_queue_entry *e = &born->at[i];
    if (e->record)
      continue; /* stored after an earlier unit; it is in the list until the round ends */
    RGI_TRY(make_child(k, parent, v->born++, v->run, e));
    free(e->memory);
    e->memory = NULL;
    e->bytes = 0;
  }
  take_off_ended(born);
  return RG_SUCCESS;
}

int rgi_record_write_unit(rgi_buddy *k, const rgi_record_write_walker *w, rgi_queue *born) {
  rgi_record *r = rgi_record_at(w->record);
  rgi_record_version *v = rgi_record_begin(r);
  if (w->state)
    RGI_TRY(rgi_record_set_state(v, w->state, w->bytes));
  v->done = w->done;
  v->left = w->left;
  RGI_TRY(keep_children(k, r, v, born));
  rgi_record_switch(r);
  return rgi_buddy_send(k, w->record, 0);
}

static int prepare(const rgi_record_write_walker *w, uint64_t decides) {
  rgi_record *r = rgi_record_at(w->record);
  rgi_record_version *v = rgi_record_begin(r);
  if (w->state)
    RGI_TRY(rgi_record_set_state(v, w->state, w->bytes));
  v->done = w->done;
  v->left = w->left;
  v->met = w->met;
  r->decides = decides;
  atomic_store(&r->prepared, atomic_load(&r->now) + 1);
  return RG_SUCCESS;
}

int rgi_record_write_meeting(rgi_buddy *k, int64_t n, const rgi_record_write_walker w[]) {
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(prepare(&w[i], rgi_record_at(w[0].record)->key));
  for (int64_t i = 0; i < n; i++)
    rgi_record_switch(rgi_record_at(w[i].record));
  for (int64_t i = 0; i < n - 1; i++)
    RGI_TRY(rgi_buddy_add(k, w[i].record));
  return rgi_buddy_send(k, w[n - 1].record, 1);
}

int rgi_record_write_settle(rgi_record_index *t) {
  uint64_t first;
  atomic_store(&t->store->shared->lock.owner.value, 0); /* its owner may have died */
  for (uint64_t at = rgi_store_next(t->store, 0); at; at = rgi_store_next(t->store, at)) {
    rgi_record *r = rgi_record_at(at);
    if (!r->key || atomic_load(&r->prepared) != atomic_load(&r->now) + 1)
      continue;
    RGI_TRY(rgi_record_index_find(t, r->decides, &first));
    if (first && rgi_record_current(rgi_record_at(first))->met >= rgi_record_next(r)->met)
      rgi_record_switch(r);
  }
  return RG_SUCCESS;
}

int rgi_record_write_outcome(rgi_buddy *k, uint64_t record, const rg_balance_outcome *o,
                             rgi_queue *born) {
  rgi_record *r = rgi_record_at(record);
  rgi_record_version *v = rgi_record_begin(r);
  if (o->state)
    RGI_TRY(rgi_record_set_state(v, o->state, o->bytes));
  RGI_TRY(rgi_record_set_text(v, o->text));
  v->ended = 1;
  v->error = o->error;
  v->rank = o->rank;
  v->done = o->done;
  v->seconds = o->seconds;
  v->unit = o->unit;
  v->missed = o->missed;
  v->leader = rgi_runtime.rank;
  if (born)
    RGI_TRY(keep_children(k, r, v, born));
  rgi_record_switch(r);
  return rgi_buddy_send(k, record, 1);
}
