/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The order of the stores keeps the walker store consistent if the process is killed between any
 * two of them: first the version that is not valid is written, then the children that the unit has
 * made are added to the node's list, then the version becomes valid. A process killed before that
 * leaves at most children that their parent's version has not counted; the sweep after the death
 * removes them. */
#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/queue.h"
#include "walkers/store.h"
#include "walkers/store_record.h"
#include "walkers/store_write.h"
#include "walkers/survival.h"

/* Adds the record of a child: before the version of its parent that counts it is valid. */
static int make_child(rg_balancer b, const rgi_store_record *parent, int64_t number,
                      rgi_queue_entry *e) {
  uint64_t key = rgi_mix_bits(parent->key + rgi_mix_bits((uint64_t)number + 1)) | (uint64_t)1 << 63;
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_store_record), &e->record));
  rgi_store_record *r = rgi_store_record_at(e->record);
  RGI_TRY(rgi_store_record_fill(r, e, key));
  r->version[0].ended = e->ended;
  r->version[0].rank = rgi_survival_first_rank(b, b->rank);
  r->version[0].leader = rgi_runtime.rank;
  r->parent = parent->key;
  r->number = number;
  rgi_store_push(b, e->record);
  return rgi_buddy_add(b, e->record);
}

/* Outcomes that a unit has added are stored now; they wait for no group. */
static void take_off_ended(rgi_queue *born) {
  int rest = 0;
  for (int i = 0; i < born->count; i++)
    if (!born->at[i].ended)
      born->at[rest++] = born->at[i];
  born->count = rest;
}

static int keep_children(rg_balancer b, const rgi_store_record *parent,
                         rgi_store_record_version *v) {
  rgi_queue *born = &b->work.born;
  for (int i = 0; i < born->count; i++) {
    rgi_queue_entry *e = &born->at[i];
    if (e->record)
      continue; /* stored after an earlier unit; it is in the list until the round ends */
    RGI_TRY(make_child(b, parent, v->born++, e));
    free(e->memory);
    e->memory = NULL;
    e->bytes = 0;
  }
  take_off_ended(born);
  return RG_SUCCESS;
}

int rgi_store_write_unit(rg_balancer b, const void *state, size_t bytes, int has) {
  rgi_store_record *r = rgi_store_record_at(b->work.entry.record);
  rgi_store_record_version *v = rgi_store_record_begin(r);
  if (has)
    RGI_TRY(rgi_store_record_set_state(v, state, bytes));
  v->done = b->work.walker.done;
  v->left = b->work.left;
  RGI_TRY(keep_children(b, r, v));
  rgi_store_record_switch(r);
  return rgi_buddy_send(b, b->work.entry.record, 0);
}

int rgi_store_write_outcome(rg_balancer b, const rgi_queue_entry *entry,
                            const rg_balance_outcome *o) {
  rgi_store_record *r = rgi_store_record_at(entry->record);
  rgi_store_record_version *v = rgi_store_record_begin(r);
  if (o->state)
    RGI_TRY(rgi_store_record_set_state(v, o->state, o->bytes));
  RGI_TRY(rgi_store_record_set_text(v, o->text));
  v->ended = 1;
  v->error = o->error;
  v->rank = o->rank;
  v->done = o->done;
  v->seconds = o->seconds;
  v->leader = rgi_runtime.rank;
  if (entry == &b->work.entry)
    RGI_TRY(keep_children(b, r, v));
  rgi_store_record_switch(r);
  return rgi_buddy_send(b, entry->record, 1);
}
