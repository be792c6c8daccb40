/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers' records on their way between nodes. Taking one in twice, or an old one late, changes
 * nothing: so whoever is interrupted begins again. */
#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/group.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "walkers/record.h"
#include "walkers/vault.h"

enum { SPEAKERS_TAG = 0x0ba1a4d2 };

/* A record; then the state and the text, if there are any. */
typedef struct {
  uint64_t bytes; /* of all this */
  uint64_t key, mother;
  int64_t number, id, least, most;
  double unit;
  rgi_version version; /* its blocks are worth nothing here, but that there are some */
} packed;

static size_t whole_words(size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

static size_t state_bytes(const rgi_version *v) {
  return v->has ? whole_words(v->bytes) : 0;
}

static int has_text(const rgi_version *v) {
  return v->error && v->text;
}

static int make_room(rgi_copies *c, size_t bytes) {
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

int rgi_copies_add(rgi_copies *c, uint64_t offset) {
  rgi_record *r = rgi_record_at(offset);
  const rgi_version *v = rgi_record_current(r);
  size_t state = state_bytes(v), bytes = sizeof(packed) + state + (has_text(v) ? RGI_TEXT : 0);
  RGI_TRY(make_room(c, bytes));
  char *to = c->memory + c->bytes;
  packed p = {bytes, r->key, r->mother, r->number, r->id, r->least, r->most, r->unit, *v};
  memset(to, 0, bytes);
  memcpy(to, &p, sizeof p);
  if (state)
    memcpy(to + sizeof p, rgi_arena_at(v->state), v->bytes);
  if (has_text(v))
    memcpy(to + sizeof p + state, rgi_arena_at(v->text), RGI_TEXT);
  c->bytes += bytes;
  return RG_SUCCESS;
}

void rgi_copies_free(rgi_copies *c) {
  free(c->memory);
  *c = (rgi_copies){0};
}

/* --- taking in ---------------------------------------------------------------------------- */

static int take_version(rgi_version *v, const packed *p) {
  const char *rest = (const char *)(p + 1);
  rgi_version own = *v;
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

static int make_record(rg_balancer b, const packed *p, uint64_t *offset) {
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), offset));
  rgi_record *r = rgi_record_at(*offset);
  memset(r, 0, sizeof *r);
  r->key = p->key;
  r->mother = p->mother;
  r->number = p->number;
  r->id = p->id;
  r->least = p->least;
  r->most = p->most;
  r->unit = p->unit;
  RGI_TRY(take_version(&r->version[0], p));
  rgi_vault_push(b, *offset);
  return RG_SUCCESS;
}

/* Before any mother is told of them: so whenever this ends, a walker that is known of is there. */
static int take_new(rg_balancer b, const packed *p) {
  uint64_t offset;
  RGI_TRY(rgi_vault_find(b, p->key, &offset));
  return offset ? RG_SUCCESS : make_record(b, p, &offset);
}

static int take_one(rg_balancer b, const packed *p, uint64_t *offset) {
  RGI_TRY(rgi_vault_find(b, p->key, offset));
  rgi_record *r = rgi_record_at(*offset);
  if (!rgi_version_newer(&p->version, rgi_record_current(r)))
    return RG_SUCCESS;
  RGI_TRY(take_version(rgi_record_begin(r), p));
  rgi_record_switch(r);
  return RG_SUCCESS;
}

int rgi_copies_take(rg_balancer b, const void *memory, size_t bytes, uint64_t *record) {
  const char *at = memory, *end = at + bytes;
  for (; at < end; at += ((const packed *)(const void *)at)->bytes)
    RGI_TRY(take_new(b, (const void *)at));
  for (at = memory; at < end; at += ((const packed *)(const void *)at)->bytes)
    RGI_TRY(take_one(b, (const void *)at, record));
  return RG_SUCCESS;
}

/* --- all of it ------------------------------------------------------------------------------ */

int rgi_vault_many(const struct rg_balancer_s *b) {
  int here = 0;
  for (int r = 0; r < b->size; r++)
    here += rgi_node_find(rgi_members_at(b->all->members, r)) >= 0;
  return b->vault && here < b->size;
}

/* The first rank of each node. */
static int list_speakers(const struct rg_balancer_s *b, int ranks[]) {
  int n = 0;
  for (int r = 0; r < b->size; r++) {
    int node = rgi_node_of(rgi_members_at(b->all->members, r)), i = 0;
    while (i < n && rgi_node_of(rgi_members_at(b->all->members, ranks[i])) != node)
      i++;
    if (i == n)
      ranks[n++] = r;
  }
  return n;
}

int rgi_vault_speaks(const struct rg_balancer_s *b) {
  int r = 0;
  while (rgi_node_find(rgi_members_at(b->all->members, r)) < 0)
    r++;
  return r == b->rank;
}

static int pack_all(rg_balancer b, rgi_copies *c) {
  for (uint64_t at = rgi_vault_next(b, 0); at; at = rgi_vault_next(b, at))
    if (rgi_record_at(at)->key)
      RGI_TRY(rgi_copies_add(c, at));
  return RG_SUCCESS;
}

static int exchange_among(rg_balancer b, rg_group g, int n, const rgi_copies *mine) {
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
    error = rgi_copies_take(b, all, (size_t)total, &last);
  free(all);
  free(places);
  free(counts);
  return error;
}

/* Who gives up tells the others. */
static int exchange_with(rg_balancer b, int n, const int ranks[]) {
  rg_group g;
  rgi_copies mine = {0};
  RGI_TRY(rg_group_create(b->all, n, ranks, SPEAKERS_TAG, &g));
  g->creation_ids[RGI_CREATION_IDS - 1] = b->all->context;
  int error = pack_all(b, &mine);
  if (!error)
    error = exchange_among(b, g, n, &mine);
  if (error) {
    char *text = strdupa(rg_error_detail());
    rg_group_revoke(g);
    rgi_error(error, "%s", text);
  }
  rgi_copies_free(&mine);
  rg_group_free(&g);
  return error;
}

int rgi_copies_exchange(rg_balancer b) {
  int *ranks = malloc((size_t)b->size * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", b->size);
  int n = list_speakers(b, ranks);
  rgi_vault_forget(b);
  int error = n > 1 ? exchange_with(b, n, ranks) : RG_SUCCESS;
  free(ranks);
  return error;
}

/* --- one that waits --------------------------------------------------------------------------- */

int rgi_entry_wrap(rg_balancer b, rgi_entry *e) {
  rgi_copies c = {0};
  if (!b->vault || !e->record)
    return RG_SUCCESS;
  RGI_TRY(rgi_copies_add(&c, e->record));
  e->memory = c.memory;
  e->bytes = c.bytes;
  e->record = 0;
  return RG_SUCCESS;
}

int rgi_entry_unwrap(rg_balancer b, rgi_entry *e) {
  if (!b->vault || e->record)
    return RG_SUCCESS;
  int error = rgi_copies_take(b, e->memory, e->bytes, &e->record);
  free(e->memory);
  e->memory = NULL;
  e->bytes = 0;
  return error;
}
