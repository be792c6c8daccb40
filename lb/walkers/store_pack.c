/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Records go between nodes when a walker does, as copies for a buddy (buddy.c), and all of them
 * after a death. Taking in the same record twice, or an old one late, changes nothing; so an
 * exchange that a death interrupts is simply done again. Children are taken in before the parents
 * that count them: so whenever the process is killed, every child that is counted is there. */
#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "shm/arena.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "walkers/outcome_list.h"
#include "walkers/queue.h"
#include "walkers/store.h"
#include "walkers/store_index.h"
#include "walkers/store_pack.h"
#include "walkers/store_record.h"

enum { LEADERS_TAG = 0x0ba1a4d2 };

/* A record; then the state and the text, if there are any. */
typedef struct {
  uint64_t bytes; /* of all this */
  uint64_t key, parent;
  int64_t number, id, least, most;
  double unit;
  rgi_store_record_version version; /* its blocks mean nothing here, except whether there are any */
} packed_record;

static size_t whole_words(size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

static size_t state_bytes(const rgi_store_record_version *v) {
  return v->has ? whole_words(v->bytes) : 0;
}

static int has_text(const rgi_store_record_version *v) {
  return v->error && v->text;
}

static int make_room(rgi_store_pack *c, size_t bytes) {
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

int rgi_store_pack_add(rgi_store_pack *c, uint64_t offset) {
  rgi_store_record *r = rgi_store_record_at(offset);
  const rgi_store_record_version *v = rgi_store_record_current(r);
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

void rgi_store_pack_free(rgi_store_pack *c) {
  free(c->memory);
  *c = (rgi_store_pack){0};
}

/* --- taking in ---------------------------------------------------------------------------- */

static int take_version(rgi_store_record_version *v, const packed_record *p) {
  const char *rest = (const char *)(p + 1);
  rgi_store_record_version own = *v;
  *v = p->version;
  v->state = own.state;
  v->room = own.room;
  v->text = own.text;
  v->has = 0;
  if (p->version.has)
    RGI_TRY(rgi_store_record_set_state(v, rest, p->version.bytes));
  return has_text(&p->version) ? rgi_store_record_set_text(v, rest + state_bytes(&p->version))
                               : RG_SUCCESS;
}

static int make_record(rgi_store_index *t, const packed_record *p, uint64_t *offset) {
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_store_record), offset));
  rgi_store_record *r = rgi_store_record_at(*offset);
  memset(r, 0, sizeof *r);
  r->key = p->key;
  r->parent = p->parent;
  r->number = p->number;
  r->id = p->id;
  r->least = p->least;
  r->most = p->most;
  r->unit = p->unit;
  RGI_TRY(take_version(&r->version[0], p));
  rgi_store_push(t->store, *offset);
  return RG_SUCCESS;
}

/* The first pass: adds records that are new here. */
static int take_new(rgi_store_index *t, const packed_record *p) {
  uint64_t offset;
  RGI_TRY(rgi_store_index_find(t, p->key, &offset));
  return offset ? RG_SUCCESS : make_record(t, p, &offset);
}

static int take_one(rgi_store_index *t, const packed_record *p, uint64_t *offset) {
  RGI_TRY(rgi_store_index_find(t, p->key, offset));
  rgi_store_record *r = rgi_store_record_at(*offset);
  if (!rgi_store_record_newer(&p->version, rgi_store_record_current(r)))
    return RG_SUCCESS;
  RGI_TRY(take_version(rgi_store_record_begin(r), p));
  rgi_store_record_switch(r);
  return RG_SUCCESS;
}

int rgi_store_pack_take(rgi_store_index *t, const void *memory, size_t bytes, uint64_t *record) {
  const char *at = memory, *end = at + bytes;
  for (; at < end; at += ((const packed_record *)(const void *)at)->bytes)
    RGI_TRY(take_new(t, (const void *)at));
  for (at = memory; at < end; at += ((const packed_record *)(const void *)at)->bytes)
    RGI_TRY(take_one(t, (const void *)at, record));
  return RG_SUCCESS;
}

/* --- all records ------------------------------------------------------------------------------ */

/* The leader, the first rank, of each node. */
static int list_leaders(const rgi_membership *m, int ranks[]) {
  int n = 0;
  for (int r = 0; r < m->size; r++) {
    int node = rgi_membership_node_of(m, r), i = 0;
    while (i < n && rgi_membership_node_of(m, ranks[i]) != node)
      i++;
    if (i == n)
      ranks[n++] = r;
  }
  return n;
}

static int pack_all(const rgi_store *s, rgi_store_pack *c) {
  for (uint64_t at = rgi_store_next(s, 0); at; at = rgi_store_next(s, at))
    if (rgi_store_record_at(at)->key)
      RGI_TRY(rgi_store_pack_add(c, at));
  return RG_SUCCESS;
}

static int exchange_among(rgi_store_index *t, rg_group g, int n, const rgi_store_pack *mine) {
  MPI_Count own = (MPI_Count)mine->bytes, total = 0, *counts = calloc((size_t)n, sizeof *counts);
  MPI_Aint *places = calloc((size_t)n, sizeof *places);
  uint64_t last;
  char *all = NULL;
  int error = counts && places ? rg_allgather(g, &own, 1, MPI_COUNT, counts, 1, MPI_COUNT)
                               : rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", n);
  for (int i = 0; i < n && !error; i++) {
    places[i] = (MPI_Aint)total;
    total += counts[i];
  }
  all = error ? NULL : malloc(total ? (size_t)total : 1);
  if (!error && !all)
    error = rgi_error(RG_ERR_NOMEM, "no memory for %lld bytes of walkers", (long long)total);
  if (!error)
    error = rg_allgatherv(g, mine->memory, own, MPI_BYTE, all, counts, places, MPI_BYTE);
  if (!error)
    error = rgi_store_pack_take(t, all, (size_t)total, &last);
  free(all);
  free(places);
  free(counts);
  return error;
}

/* A leader that gives up revokes the group, so that the others do, too. */
static int exchange_with(rgi_store_index *t, int n, const int ranks[]) {
  rg_group g;
  rgi_store_pack mine = {0};
  RGI_TRY(rg_group_create(t->store->members->group, n, ranks, LEADERS_TAG, &g));
  g->creation_ids[RGI_CREATION_IDS - 1] = t->store->members->group->context;
  int error = pack_all(t->store, &mine);
  if (!error)
    error = exchange_among(t, g, n, &mine);
  if (error) {
    char *text = strdupa(rg_error_detail());
    rg_group_revoke(g);
    rgi_error(error, "%s", text);
  }
  rgi_store_pack_free(&mine);
  rg_group_free(&g);
  return error;
}

int rgi_store_pack_exchange(rgi_store_index *t) {
  int *ranks = malloc((size_t)t->store->members->size * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", t->store->members->size);
  int n = list_leaders(t->store->members, ranks);
  rgi_store_index_clear(t);
  int error = n > 1 ? exchange_with(t, n, ranks) : RG_SUCCESS;
  free(ranks);
  return error;
}

/* --- a walker that waits -------------------------------------------------------------- */

int rgi_store_pack_attach(const rgi_store *s, rgi_queue_entry *e) {
  rgi_store_pack c = {0};
  if (!s->shared || !e->record)
    return RG_SUCCESS;
  RGI_TRY(rgi_store_pack_add(&c, e->record));
  e->memory = c.memory;
  e->bytes = c.bytes;
  e->record = 0;
  return RG_SUCCESS;
}

int rgi_store_pack_detach(rgi_store_index *t, rgi_queue_entry *e) {
  if (!t->store->shared || e->record)
    return RG_SUCCESS;
  int error = rgi_store_pack_take(t, e->memory, e->bytes, &e->record);
  free(e->memory);
  e->memory = NULL;
  e->bytes = 0;
  return error;
}
