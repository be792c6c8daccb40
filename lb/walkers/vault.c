/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "vault.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formation/context.h"
#include "formation/group.h"
#include "runtime/arena.h"
#include "runtime/error.h"
#include "runtime/runtime.h"
#include "runtime/slot.h"

typedef struct {
  int64_t done;
  double left, seconds;
  uint64_t state, room; /* a block, and its size; 0: no state yet */
  uint64_t bytes;
  uint64_t born; /* the record of the walker made last, with the earlier ones behind it */
  uint64_t text; /* what was wrong: a block of RGI_TEXT */
  int32_t has, ended, error, rank;
  int32_t leader; /* a rank of the world: who has the outcome */
  int32_t unused;
} version;

typedef struct {
  int64_t id, least, most;
  double unit;
  uint64_t elder;       /* the next in the list of those that one walker has made */
  _Atomic uint64_t now; /* version now % 2 holds */
  version version[2];
} record;

struct rgi_vault {
  int64_t count;
  record record[];
};

static record *at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static version *current(record *r) {
  return &r->version[atomic_load(&r->now) % 2];
}

static version *other(record *r) {
  return &r->version[(atomic_load(&r->now) + 1) % 2];
}

static void switch_over(record *r) {
  atomic_fetch_add(&r->now, 1);
}

/* --- open, fill, close ------------------------------------------------------------------ */

static uint64_t offset_of(const struct rg_balancer_s *b, int64_t i) {
  const char *base = rgi_arena_at(b->vault_slot);
  return b->vault_slot + (uint64_t)((const char *)&b->vault->record[i] - base);
}

int rgi_vault_open(rg_balancer b) {
  void *memory;
  size_t bytes = sizeof(struct rgi_vault) + (size_t)b->list.count * sizeof(record);
  if (!b->vault) {
    RGI_TRY(rgi_slot_attach(rgi_mix(b->first_context + 0x7661756c), b->first_size, bytes,
                            &b->vault_slot, &memory));
    b->vault = memory;
  }
  for (int i = 0; i < b->list.count; i++)
    b->list.at[i].record = offset_of(b, i);
  return RG_SUCCESS;
}

static int set_state(version *v, const void *state, size_t bytes) {
  if (v->state && v->room < bytes) {
    rgi_arena_give(v->state, v->room);
    v->state = 0;
  }
  if (!v->state) {
    RGI_TRY(rgi_arena_take("the state of a walker", bytes ? bytes : 1, &v->state));
    v->room = bytes ? bytes : 1;
  }
  if (bytes)
    memcpy(rgi_arena_at(v->state), state, bytes);
  v->bytes = bytes;
  v->has = 1;
  return RG_SUCCESS;
}

static int fill(record *r, const rgi_entry *e) {
  memset(r, 0, sizeof *r);
  r->id = e->id;
  r->least = e->least;
  r->most = e->most;
  r->unit = e->unit;
  r->version[0].left = e->left;
  return e->memory ? set_state(&r->version[0], e->memory, e->bytes) : RG_SUCCESS;
}

int rgi_vault_fill(rg_balancer b) {
  for (int i = 0; i < b->list.count; i++)
    RGI_TRY(fill(&b->vault->record[i], &b->list.at[i]));
  b->vault->count = b->list.count;
  return RG_SUCCESS;
}

/* --- all walkers: those of the list, and those that were made --------------------------------- */

static int visit(uint64_t offset, int (*with)(rg_balancer b, uint64_t offset, void *to),
                 rg_balancer b, void *to) {
  RGI_TRY(with(b, offset, to));
  for (uint64_t child = current(at(offset))->born; child; child = at(child)->elder)
    RGI_TRY(visit(child, with, b, to));
  return RG_SUCCESS;
}

static int visit_all(rg_balancer b, int (*with)(rg_balancer b, uint64_t offset, void *to),
                     void *to) {
  for (int64_t i = 0; i < b->vault->count; i++)
    RGI_TRY(visit(offset_of(b, i), with, b, to));
  return RG_SUCCESS;
}

static void give_version(const version *v) {
  if (v->state)
    rgi_arena_give(v->state, v->room);
  if (v->text)
    rgi_arena_give(v->text, RGI_TEXT);
}

static void give_record(uint64_t offset, int made) {
  record *r = at(offset);
  for (uint64_t child = current(r)->born, next; child; child = next) {
    next = at(child)->elder;
    give_record(child, 1);
  }
  give_version(&r->version[0]);
  give_version(&r->version[1]);
  if (made)
    rgi_arena_give(offset, sizeof *r);
}

/* By the last one. */
static int give_all(const void *memory, int users) {
  const struct rgi_vault *v = memory;
  const char *base = rgi_arena_at(0);
  (void)users;
  for (int64_t i = 0; i < v->count; i++)
    give_record((uint64_t)((const char *)&v->record[i] - base), 0);
  return 1;
}

void rgi_vault_close(rg_balancer b) {
  if (b->vault && rgi_rt.started)
    rgi_slot_detach(b->vault_slot, give_all);
  b->vault = NULL;
}

static int add_open(rg_balancer b, uint64_t offset, void *to) {
  const record *r = at(offset);
  const version *v = current(at(offset));
  (void)b;
  if (v->ended)
    return RG_SUCCESS;
  rgi_entry e = {.id = r->id,
                 .least = r->least,
                 .most = r->most,
                 .left = v->left,
                 .unit = r->unit,
                 .record = offset};
  return rgi_entries_add(to, &e);
}

int rgi_vault_read(rg_balancer b) {
  rgi_entries_free(&b->list);
  return visit_all(b, add_open, &b->list);
}

/* --- one walker ---------------------------------------------------------------------------- */

int rgi_vault_load(const rgi_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory) {
  const version *v = current(at(entry->record));
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

/* The next version begins as this one, with its own block for the state. */
static version *begin(record *r) {
  version *v = other(r), kept = *v;
  *v = *current(r);
  v->state = kept.state;
  v->room = kept.room;
  v->text = kept.text;
  v->has = 0;
  return v;
}

static int keep_born(rgi_entries *born, uint64_t *list) {
  for (int i = 0; i < born->count; i++) {
    rgi_entry *e = &born->at[i];
    if (e->record)
      continue; /* since an earlier unit: they are told of at the end of a round */
    RGI_TRY(rgi_arena_take("a walker", sizeof(record), &e->record));
    RGI_TRY(fill(at(e->record), e));
    at(e->record)->elder = *list;
    *list = e->record;
    free(e->memory);
    e->memory = NULL;
    e->bytes = 0;
  }
  return RG_SUCCESS;
}

int rgi_vault_keep(rg_balancer b, const void *state, size_t bytes, int has) {
  record *r = at(b->work.entry.record);
  version *v = begin(r);
  if (has)
    RGI_TRY(set_state(v, state, bytes));
  v->done = b->work.walker.done;
  v->left = b->work.left;
  RGI_TRY(keep_born(&b->work.born, &v->born));
  switch_over(r);
  return RG_SUCCESS;
}

int rgi_vault_end(rg_balancer b, const rgi_entry *entry, const rg_outcome *o) {
  record *r = at(entry->record);
  version *v = begin(r);
  if (o->state)
    RGI_TRY(set_state(v, o->state, o->bytes));
  if (*o->text && !v->text)
    RGI_TRY(rgi_arena_take("what was wrong", RGI_TEXT, &v->text));
  if (*o->text)
    snprintf(rgi_arena_at(v->text), RGI_TEXT, "%s", o->text);
  v->ended = 1;
  v->error = o->error;
  v->rank = o->rank;
  v->done = o->done;
  v->seconds = o->seconds;
  v->leader = rgi_rt.rank;
  if (entry == &b->work.entry)
    RGI_TRY(keep_born(&b->work.born, &v->born));
  switch_over(r);
  return RG_SUCCESS;
}

/* --- outcomes --------------------------------------------------------------------------------- */

typedef struct {
  rgi_outcomes *list;
  int of_dead;
} collection;

static int add_ended(rg_balancer b, uint64_t offset, void *to) {
  collection *c = to;
  version *v = current(at(offset));
  (void)b;
  if (!v->ended || (c->of_dead && !rgi_is_dead(v->leader)))
    return RG_SUCCESS;
  if (c->of_dead)
    v->leader = rgi_rt.rank;
  rg_outcome o = {.id = at(offset)->id,
                  .error = v->error,
                  .rank = v->rank,
                  .text = v->error && v->text ? rgi_arena_at(v->text) : "",
                  .done = v->done,
                  .seconds = v->seconds,
                  .state = v->has && !v->error ? rgi_arena_at(v->state) : NULL,
                  .bytes = v->has && !v->error ? v->bytes : 0};
  return rgi_outcomes_insert(c->list, &o);
}

int rgi_vault_outcomes(rg_balancer b, int of_dead, rgi_outcomes *list) {
  collection c = {list, of_dead};
  return visit_all(b, add_ended, &c);
}
