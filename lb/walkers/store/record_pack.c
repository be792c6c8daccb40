/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Records go between nodes when a walker does, as copies for a buddy (buddy.c), and after a death
 * (record_exchange.c). Taking in the same record twice, or an old one late, changes nothing; so an
 * exchange that a death interrupts is simply done again. Children are taken in before the parents
 * that count them: so whenever the process is killed, every child that is counted is there. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shm/arena.h"
#include "walkers/store/record.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_pack.h"
#include "walkers/store/store.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

/* A record; then the state and the text, if there are any. */
typedef struct {
  uint64_t bytes; /* of all this */
  uint64_t key, parent;
  int64_t number, id, least, most;
  double unit;
  rgi_record_version version; /* its blocks mean nothing here, except whether there are any */
} packed_record;

static size_t whole_words(size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

static size_t state_bytes(const rgi_record_version *v) {
  return v->has ? whole_words(v->bytes) : 0;
}

static int has_text(const rgi_record_version *v) {
  return v->error && v->text;
}

static int make_room(rgi_record_pack *c, size_t bytes) {
  if (c->bytes + bytes <= c->room)
    return RG_SUCCESS;
  size_t room = 2 * c->room + bytes;
  char *more = realloc(c->memory, room);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of walkers", room);
  c->memory = more;
  c->room = room;
  return RG_SUCCESS;
}

int rgi_record_pack_add(rgi_record_pack *c, uint64_t offset) {
  rgi_record *r = rgi_record_at(offset);
  const rgi_record_version *v = rgi_record_current(r);
  size_t state = state_bytes(v),
         bytes = sizeof(packed_record) + state + (has_text(v) ? RGI_OUTCOME_TEXT : 0);
  RGI_TRY(make_room(c, bytes));
  char *to = c->memory + c->bytes;
  packed_record p = {bytes, r->key, r->parent, r->number, r->id, r->least, r->most, r->unit, *v};
  memset(to, 0, bytes);
  memcpy(to, &p, sizeof p);
  if (state)
    memcpy(to + sizeof p, rgi_arena_at(v->state), v->bytes);
  if (has_text(v))
    memcpy(to + sizeof p + state, rgi_arena_at(v->text), RGI_OUTCOME_TEXT);
  c->bytes += bytes;
  return RG_SUCCESS;
}

void rgi_record_pack_free(rgi_record_pack *c) {
  free(c->memory);
  *c = (rgi_record_pack){0};
}

/* --- taking in ---------------------------------------------------------------------------- */

static int take_version(rgi_record_version *v, const packed_record *p) {
  const char *rest = (const char *)(p + 1);
  rgi_record_version own = *v;
  *v = p->version;
  v->state = own.state;
  v->room = own.room;
  v->text = own.text;
  v->has = 0;
  if (p->version.has)
    RGI_TRY(rgi_record_set_state(v, rest, p->version.bytes));
  return has_text(&p->version) ? rgi_record_set_text(v, rest + state_bytes(&p->version))
                               : RG_SUCCESS;
}

static int make_record(rgi_record_index *t, const packed_record *p, uint64_t *offset) {
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), offset));
  rgi_record *r = rgi_record_at(*offset);
  memset(r, 0, sizeof *r);
  r->key = p->key;
  r->parent = p->parent;
  r->number = p->number;
  r->id = p->id;
  r->least = p->least;
  r->most = p->most;
  r->unit = p->unit;
  r->home = -1;
  RGI_TRY(take_version(&r->version[0], p));
  rgi_store_push(t->store, *offset);
  return RG_SUCCESS;
}

/* The first pass: adds records that are new here. */
static int take_new(rgi_record_index *t, const packed_record *p) {
  uint64_t offset;
  RGI_TRY(rgi_record_index_find(t, p->key, &offset));
  return offset ? RG_SUCCESS : make_record(t, p, &offset);
}

static int take_one(rgi_record_index *t, const packed_record *p, uint64_t *offset) {
  RGI_TRY(rgi_record_index_find(t, p->key, offset));
  rgi_record *r = rgi_record_at(*offset);
  if (!rgi_record_newer(&p->version, rgi_record_current(r)))
    return RG_SUCCESS;
  RGI_TRY(take_version(rgi_record_begin(r), p));
  rgi_record_switch(r);
  return RG_SUCCESS;
}

static int take_all(rgi_record_index *t, const void *memory, size_t bytes, uint64_t *record) {
  const char *at = memory, *end = at + bytes;
  for (; at < end; at += ((const packed_record *)(const void *)at)->bytes)
    RGI_TRY(take_new(t, (const void *)at));
  for (at = memory; at < end; at += ((const packed_record *)(const void *)at)->bytes)
    RGI_TRY(take_one(t, (const void *)at, record));
  return RG_SUCCESS;
}

/* A walker that comes from another node, and a late copy of it for a buddy, may reach two processes
 * of this node at once. Without the lock both write the same version, and both make it valid: then
 * the one before it is. */
int rgi_record_pack_take(rgi_record_index *t, const void *memory, size_t bytes, uint64_t *record) {
  rgi_lock *lock = &t->store->shared->lock;
  RGI_TRY(rgi_lock_acquire(lock, "the lock of the walker store"));
  int error = take_all(t, memory, bytes, record);
  rgi_lock_release(lock);
  return error;
}

/* --- a walker that waits -------------------------------------------------------------- */

int rgi_record_pack_attach(const rgi_store *s, rgi_queue_entry *e) {
  rgi_record_pack c = {0};
  if (!s->shared || !e->record)
    return RG_SUCCESS;
  RGI_TRY(rgi_record_pack_add(&c, e->record));
  e->memory = c.memory;
  e->bytes = c.bytes;
  e->record = 0;
  return RG_SUCCESS;
}

int rgi_record_pack_detach(rgi_record_index *t, rgi_queue_entry *e) {
  if (!t->store->shared || e->record)
    return RG_SUCCESS;
  int error = rgi_record_pack_take(t, e->memory, e->bytes, &e->record);
  free(e->memory);
  e->memory = NULL;
  e->bytes = 0;
  return error;
}
