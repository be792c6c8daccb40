/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walkers/vault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "progress/slot.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/process.h"
#include "walkers/record.h"
#include "walkers/survive.h"

/* --- versions ----------------------------------------------------------------------------- */

rgi_version *rgi_record_begin(rgi_record *r) {
  rgi_version *v = &r->version[(atomic_load(&r->now) + 1) % 2], kept = *v;
  *v = *rgi_record_current(r);
  v->state = kept.state;
  v->room = kept.room;
  v->text = kept.text;
  v->has = 0;
  return v;
}

int rgi_record_set_state(rgi_version *v, const void *state, size_t bytes) {
  if (v->state && v->room < bytes) {
    rgi_arena_free(v->state, v->room);
    v->state = 0;
  }
  if (!v->state) {
    RGI_TRY(rgi_arena_alloc("the state of a walker", bytes ? bytes : 1, &v->state));
    v->room = bytes ? bytes : 1;
  }
  if (bytes)
    memcpy(rgi_arena_at(v->state), state, bytes);
  v->bytes = bytes;
  v->has = 1;
  return RG_SUCCESS;
}

int rgi_record_set_text(rgi_version *v, const char *text) {
  if (!*text)
    return RG_SUCCESS;
  if (!v->text)
    RGI_TRY(rgi_arena_alloc("what was wrong", RGI_TEXT, &v->text));
  snprintf(rgi_arena_at(v->text), RGI_TEXT, "%s", text);
  return RG_SUCCESS;
}

/* --- open, fill, close ------------------------------------------------------------------ */

uint64_t rgi_vault_place(const struct rg_balancer_s *b, int64_t i) {
  const char *base = rgi_arena_at(b->vault_slot);
  return b->vault_slot + (uint64_t)((const char *)&b->vault->record[i] - base);
}

static int processes_here(const struct rg_balancer_s *b) {
  int n = 0;
  for (int r = 0; r < b->first_size; r++)
    n += rgi_node_find(rgi_members_at(b->first->members, r)) >= 0;
  return n;
}

int rgi_vault_open(rg_balancer b) {
  void *memory;
  size_t bytes = sizeof(struct rgi_vault) + (size_t)b->list.count * sizeof(rgi_record);
  if (!b->vault) {
    RGI_TRY(rgi_slot_attach(rgi_context_mix(b->first_context + 0x7661756c), processes_here(b),
                            bytes, &b->vault_slot, &memory));
    b->vault = memory;
  }
  for (int i = 0; i < b->list.count; i++)
    b->list.at[i].record = rgi_vault_place(b, i);
  return RG_SUCCESS;
}

static int fill(rgi_record *r, const rgi_entry *e, uint64_t key) {
  memset(r, 0, sizeof *r);
  r->key = key;
  r->id = e->id;
  r->least = e->least;
  r->most = e->most;
  r->unit = e->unit;
  r->version[0].left = e->left;
  return e->memory ? rgi_record_set_state(&r->version[0], e->memory, e->bytes) : RG_SUCCESS;
}

int rgi_vault_fill(rg_balancer b) {
  for (int i = 0; i < b->list.count; i++)
    RGI_TRY(fill(&b->vault->record[i], &b->list.at[i], (uint64_t)i + 1));
  b->vault->count = b->list.count;
  return RG_SUCCESS;
}

static void give_version(const rgi_version *v) {
  if (v->state)
    rgi_arena_free(v->state, v->room);
  if (v->text)
    rgi_arena_free(v->text, RGI_TEXT);
}

static void give_record(const rgi_record *r) {
  give_version(&r->version[0]);
  give_version(&r->version[1]);
}

/* By the last one. */
static int give_all(const void *memory, int users) {
  const struct rgi_vault *v = memory;
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

void rgi_vault_close(rg_balancer b) {
  if (b->vault && rgi_runtime.started)
    rgi_slot_detach(b->vault_slot, give_all);
  b->vault = NULL;
  rgi_vault_forget(b);
}

/* --- all walkers ------------------------------------------------------------------------------ */

uint64_t rgi_vault_next(rg_balancer b, uint64_t offset) {
  uint64_t first = rgi_vault_place(b, 0), end = rgi_vault_place(b, b->vault->count);
  uint64_t next = offset ? offset + sizeof(rgi_record) : first;
  if (!offset || (offset >= first && offset < end))
    return next < end ? next : atomic_load(&b->vault->born);
  return rgi_record_at(offset)->earlier;
}

void rgi_vault_push(rg_balancer b, uint64_t offset) {
  _Atomic uint64_t *head = &b->vault->born;
  rgi_record *r = rgi_record_at(offset);
  r->earlier = atomic_load(head);
  while (!atomic_compare_exchange_weak(head, &r->earlier, offset))
    ;
}

static int by_key(const void *a, const void *b) {
  const rgi_entry *x = a, *y = b;
  uint64_t of_x = rgi_record_at(x->record)->key, of_y = rgi_record_at(y->record)->key;
  return (of_x > of_y) - (of_x < of_y);
}

int rgi_vault_read(rg_balancer b) {
  rgi_entries_free(&b->list);
  rgi_vault_forget(b);
  for (uint64_t at = rgi_vault_next(b, 0); at; at = rgi_vault_next(b, at)) {
    rgi_record *r = rgi_record_at(at);
    const rgi_version *v = rgi_record_current(r);
    if (!r->key || v->ended)
      continue;
    rgi_entry e = {.id = r->id,
                   .least = r->least,
                   .most = r->most,
                   .left = v->left,
                   .unit = r->unit,
                   .record = at};
    RGI_TRY(rgi_entries_add(&b->list, &e));
  }
  if (b->list.count > 0)
    qsort(b->list.at, (size_t)b->list.count, sizeof *b->list.at, by_key);
  return RG_SUCCESS;
}

/* --- one walker ---------------------------------------------------------------------------- */

int rgi_vault_load(const rgi_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory) {
  const rgi_version *v = rgi_record_current(rgi_record_at(entry->record));
  *done = v->done;
  *left = v->left;
  *bytes = -1;
  *memory = NULL;
  if (!v->has)
    return RG_SUCCESS;
  *memory = malloc(v->bytes ? v->bytes : 1);
  if (!*memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", (size_t)v->bytes);
  memcpy(*memory, rgi_arena_at(v->state), v->bytes);
  *bytes = (int64_t)v->bytes;
  return RG_SUCCESS;
}

/* The next one that a walker has made. It is there before the version that knows of it. */
static int bear(rg_balancer b, const rgi_record *mother, int64_t number, rgi_entry *e) {
  uint64_t key = rgi_context_mix(mother->key + rgi_context_mix((uint64_t)number + 1)) | (uint64_t)1
                                                                                            << 63;
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), &e->record));
  rgi_record *r = rgi_record_at(e->record);
  RGI_TRY(fill(r, e, key));
  r->version[0].ended = e->ended;
  r->version[0].rank = rgi_survive_first(b, b->rank);
  r->version[0].leader = rgi_runtime.rank;
  r->mother = mother->key;
  r->number = number;
  rgi_vault_push(b, e->record);
  return rgi_keeper_add(b, e->record);
}

/* They wait for no group. */
static void take_off_ended(rgi_entries *born) {
  int rest = 0;
  for (int i = 0; i < born->count; i++)
    if (!born->at[i].ended)
      born->at[rest++] = born->at[i];
  born->count = rest;
}

static int keep_born(rg_balancer b, const rgi_record *mother, rgi_version *v) {
  rgi_entries *born = &b->work.born;
  for (int i = 0; i < born->count; i++) {
    rgi_entry *e = &born->at[i];
    if (e->record)
      continue; /* since an earlier unit: they are told of at the end of a round */
    RGI_TRY(bear(b, mother, v->born++, e));
    free(e->memory);
    e->memory = NULL;
    e->bytes = 0;
  }
  take_off_ended(born);
  return RG_SUCCESS;
}

int rgi_vault_keep(rg_balancer b, const void *state, size_t bytes, int has) {
  rgi_record *r = rgi_record_at(b->work.entry.record);
  rgi_version *v = rgi_record_begin(r);
  if (has)
    RGI_TRY(rgi_record_set_state(v, state, bytes));
  v->done = b->work.walker.done;
  v->left = b->work.left;
  RGI_TRY(keep_born(b, r, v));
  rgi_record_switch(r);
  return rgi_keeper_tell(b, b->work.entry.record, 0);
}

int rgi_vault_end(rg_balancer b, const rgi_entry *entry, const rg_outcome *o) {
  rgi_record *r = rgi_record_at(entry->record);
  rgi_version *v = rgi_record_begin(r);
  if (o->state)
    RGI_TRY(rgi_record_set_state(v, o->state, o->bytes));
  RGI_TRY(rgi_record_set_text(v, o->text));
  v->ended = 1;
  v->error = o->error;
  v->rank = o->rank;
  v->done = o->done;
  v->seconds = o->seconds;
  v->leader = rgi_runtime.rank;
  if (entry == &b->work.entry)
    RGI_TRY(keep_born(b, r, v));
  rgi_record_switch(r);
  return rgi_keeper_tell(b, entry->record, 1);
}

/* --- outcomes --------------------------------------------------------------------------------- */

static int add_ended(const rgi_record *r, const rgi_version *v, rgi_outcomes *list) {
  rg_outcome o = {.id = r->id,
                  .error = v->error,
                  .rank = v->rank,
                  .text = v->error && v->text ? rgi_arena_at(v->text) : "",
                  .done = v->done,
                  .seconds = v->seconds,
                  .state = v->has && !v->error ? rgi_arena_at(v->state) : NULL,
                  .bytes = v->has && !v->error ? v->bytes : 0};
  return rgi_outcomes_insert(list, &o);
}

int rgi_vault_outcomes(rg_balancer b, int all, rgi_outcomes *list) {
  for (uint64_t at = rgi_vault_next(b, 0); at; at = rgi_vault_next(b, at)) {
    rgi_record *r = rgi_record_at(at);
    const rgi_version *v = rgi_record_current(r);
    int mine =
        all || v->leader == rgi_runtime.rank || (b->rank == 0 && rgi_process_is_dead(v->leader));
    if (r->key && v->ended && mine)
      RGI_TRY(add_ended(r, v, list));
  }
  return RG_SUCCESS;
}
