/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table is made in two steps, so that no node receives the entries of all others: a node sends
 * each entry to the node that its key selects; that one finds the newest version; then all get the
 * results. From the same table all nodes work out the same: which records count, which node needs
 * which version. A node that needs one asks a node that has it.
 *
 * If all living nodes that had a record are in one failure domain, that domain could take it along.
 * So a version is copied once more if all nodes that have it are in one domain. Then whichever
 * domain is lost next, of every walker some version is left, and so of its children.
 *
 * Whatever a death interrupts is done again: a record that was taken in is a version like any
 * other, and a record that was removed does not count later either, since versions only get lost.
 */
#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "machine/domain.h"
#include "walkers/store/record.h"
#include "walkers/store/record_exchange.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_pack.h"
#include "walkers/store/record_table.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"

enum { LEADERS_TAG = 0x0ba1a4d2 };

/* --- open, close -------------------------------------------------------------------------- */

/* Sets the leader, the first rank, of each node; and of each rank its node. */
static int list_leaders(const rgi_membership *m, int ranks[], int node_of[]) {
  int n = 0;
  for (int r = 0; r < m->size; r++) {
    int node = rgi_membership_node_of(m, r), i = 0;
    while (i < n && rgi_membership_node_of(m, ranks[i]) != node)
      i++;
    if (i == n)
      ranks[n++] = r;
    node_of[r] = i;
  }
  return n;
}

/* If there is one domain only, each node is one. */
static void name_domains(rgi_record_exchange *x, const rgi_membership *m) {
  int several = 0;
  for (int i = 0; i < x->nodes; i++) {
    x->domain[i] = rgi_domain_of(rgi_members_at(m->group->members, x->ranks[i]));
    several |= x->domain[i] != x->domain[0];
  }
  for (int i = 0; i < x->nodes && !several; i++)
    x->domain[i] = (uint64_t)i;
}

static int find_nodes(rgi_record_exchange *x, const rgi_membership *m) {
  size_t n = (size_t)m->size;
  x->domain = calloc(n, sizeof *x->domain + 2 * sizeof(int));
  int *work = calloc(n, 2 * sizeof *work), error = RG_SUCCESS;
  if (!x->domain || !work)
    error = rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", m->size);
  if (!error) {
    x->ranks = (int *)(void *)(x->domain + n);
    x->buddies = x->ranks + n;
    x->nodes = list_leaders(m, x->ranks, work);
    x->mine = work[m->rank];
    name_domains(x, m);
    error = rgi_membership_buddies(m, work + n);
  }
  for (int i = 0; i < x->nodes && !error; i++)
    x->buddies[i] = work[work[n + (size_t)x->ranks[i]]];
  free(work);
  return error;
}

int rgi_record_exchange_open(rgi_record_exchange *x, rgi_record_index *index,
                             rgi_record_exchange_traffic *traffic) {
  const rgi_membership *m = index->store->members;
  *x = (rgi_record_exchange){.index = index, .traffic = traffic};
  RGI_TRY(find_nodes(x, m));
  RGI_TRY(rg_group_create(m->group, x->nodes, x->ranks, LEADERS_TAG, &x->group));
  x->group->creation_ids[RGI_CREATION_IDS - 1] = m->group->context;
  rgi_record_index_clear(index);
  return RG_SUCCESS;
}

void rgi_record_exchange_close(rgi_record_exchange *x) {
  rgi_record_table_free(&x->table);
  free(x->wanted.key);
  free(x->wanted.from);
  free(x->domain);
  rg_group_free(&x->group);
  rgi_record_index_clear(x->index);
  *x = (rgi_record_exchange){0};
}

/* A leader that gives up revokes the group, so that the others do, too. */
static int end_step(const rgi_record_exchange *x, int error) {
  if (error) {
    char *text = strdupa(rg_error_detail());
    rg_group_revoke(x->group);
    rgi_error(error, "%s", text);
  }
  return error;
}

/* The end of what each leader has done by itself. */
static int share_error(const rgi_record_exchange *x, int error) {
  return rgi_group_error_share(x->group, x->index->store->members->call, error);
}

/* --- bytes for each node ---------------------------------------------------------------------- */

/* Pieces for the nodes, or from them, one after another. */
typedef struct {
  char *all;
  MPI_Count *bytes;
  MPI_Aint *places;
} pieces;

static int open_pieces(pieces *p, int nodes) {
  *p = (pieces){.bytes = calloc((size_t)nodes, sizeof *p->bytes),
                .places = calloc((size_t)nodes + 1, sizeof *p->places)};
  return p->bytes && p->places ? RG_SUCCESS
                               : rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", nodes);
}

static void free_pieces(pieces *p) {
  free(p->all);
  free(p->bytes);
  free(p->places);
}

/* When the bytes are known: the places, and the memory. */
static int size_pieces(pieces *p, int nodes) {
  for (int i = 0; i < nodes; i++)
    p->places[i + 1] = p->places[i] + (MPI_Aint)p->bytes[i];
  size_t total = (size_t)p->places[nodes];
  p->all = malloc(total ? total : 1);
  return p->all ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of walkers", total);
}

/* Bytes that have come from other nodes. */
static int64_t bytes_come(const rgi_record_exchange *x, const pieces *in) {
  return (int64_t)in->places[x->nodes] - (int64_t)in->bytes[x->mine];
}

/* Sends a piece to each node, and gets one of each. error: of making the pieces; `in` is made
 * here. */
static int swap_pieces(const rgi_record_exchange *x, const pieces *out, pieces *in, int error) {
  *in = (pieces){0};
  if (!error)
    error = open_pieces(in, x->nodes);
  RGI_TRY(share_error(x, error));
  RGI_TRY(rg_alltoall(x->group, out->bytes, 1, MPI_COUNT, in->bytes, 1, MPI_COUNT));
  RGI_TRY(share_error(x, size_pieces(in, x->nodes)));
  return rg_alltoallv(x->group, out->all, out->bytes, out->places, MPI_BYTE, in->all, in->bytes,
                      in->places, MPI_BYTE);
}

/* --- the table ------------------------------------------------------------------------------- */

static int shard_of(const rgi_record_exchange *x, uint64_t key) {
  return (int)(rgi_mix_bits(key) % (uint64_t)x->nodes);
}

/* The entries for each node, by their keys. */
static int deal_entries(const rgi_record_exchange *x, pieces *out) {
  const rgi_record_table *t = &x->table;
  for (int64_t i = 0; i < t->count; i++)
    out->bytes[shard_of(x, t->at[i].key)] += (MPI_Count)sizeof *t->at;
  RGI_TRY(size_pieces(out, x->nodes));
  memset(out->bytes, 0, (size_t)x->nodes * sizeof *out->bytes);
  for (int64_t i = 0; i < t->count; i++) {
    int to = shard_of(x, t->at[i].key);
    memcpy(out->all + out->places[to] + out->bytes[to], &t->at[i], sizeof *t->at);
    out->bytes[to] += (MPI_Count)sizeof *t->at;
  }
  return RG_SUCCESS;
}

/* The table becomes what has come. */
static void take_entries(rgi_record_exchange *x, pieces *in) {
  rgi_record_table_free(&x->table);
  x->table.at = (void *)in->all;
  x->table.count = x->table.room = (int64_t)in->places[x->nodes] / (int64_t)sizeof *x->table.at;
  x->traffic->tables += bytes_come(x, in);
  in->all = NULL;
}

/* This node's share of the table: the keys that select it. */
static int make_share(rgi_record_exchange *x) {
  pieces out, in;
  int error = open_pieces(&out, x->nodes);
  if (!error)
    error = rgi_record_table_read(&x->table, x->index, x->mine);
  if (!error)
    error = deal_entries(x, &out);
  error = swap_pieces(x, &out, &in, error);
  if (!error)
    take_entries(x, &in);
  free_pieces(&out);
  free_pieces(&in);
  if (!error)
    rgi_record_table_merge(&x->table, x->domain);
  return error;
}

/* The shares of all nodes. */
static int join_shares(rgi_record_exchange *x) {
  pieces in;
  MPI_Count own = (MPI_Count)x->table.count * (MPI_Count)sizeof *x->table.at;
  int error = share_error(x, open_pieces(&in, x->nodes));
  if (!error)
    error = rg_allgather(x->group, &own, 1, MPI_COUNT, in.bytes, 1, MPI_COUNT);
  if (!error)
    error = share_error(x, size_pieces(&in, x->nodes));
  if (!error)
    error =
        rg_allgatherv(x->group, x->table.at, own, MPI_BYTE, in.all, in.bytes, in.places, MPI_BYTE);
  if (!error)
    take_entries(x, &in);
  free_pieces(&in);
  return error;
}

static int make_table(rgi_record_exchange *x) {
  RGI_TRY(make_share(x));
  RGI_TRY(join_shares(x));
  rgi_record_table_merge(&x->table, x->domain);
  rgi_record_table_mark(&x->table);
  return RG_SUCCESS;
}

/* --- what the store is to have --------------------------------------------------------------- */

/* Whether this node has the entry's version. *offset: the walker's record, or 0. */
static int find_version(const rgi_record_exchange *x, const rgi_record_table_entry *e,
                        uint64_t *offset, int *has) {
  RGI_TRY(rgi_record_index_find(x->index, e->key, offset));
  *has = *offset && rgi_record_table_is(e, rgi_record_current(rgi_record_at(*offset)));
  return RG_SUCCESS;
}

/* Gives up versions whose children are not all there. A walker of the first list begins again; one
 * that a unit has made is made again, unless another node has an older version. */
static int give_up_lacking(const rgi_record_exchange *x, int *any) {
  uint64_t at;
  int has;
  *any = 0;
  for (int64_t i = 0; i < x->table.count; i++) {
    const rgi_record_table_entry *e = &x->table.at[i];
    if (!rgi_record_table_lacks(e))
      continue;
    *any = 1;
    RGI_TRY(find_version(x, e, &at, &has));
    if (has && e->parent)
      rgi_record_at(at)->key = 0;
    else if (has)
      rgi_record_revert(rgi_record_at(at));
  }
  rgi_record_index_clear(x->index);
  return RG_SUCCESS;
}

/* The record of a walker that only other nodes have. */
static int make_absent(const rgi_record_exchange *x, const rgi_record_table_entry *e,
                       uint64_t *offset) {
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), offset));
  rgi_record *r = rgi_record_at(*offset);
  memset(r, 0, sizeof *r);
  r->key = e->key;
  r->parent = e->parent;
  r->number = e->number;
  r->id = e->id;
  r->least = e->least;
  r->most = e->most;
  r->unit = e->unit;
  r->version[0].done = RGI_RECORD_ABSENT;
  rgi_store_push(x->index->store, *offset);
  return RG_SUCCESS;
}

static int note_entries(const rgi_record_exchange *x) {
  uint64_t at;
  int has;
  for (int64_t i = 0; i < x->table.count; i++) {
    const rgi_record_table_entry *e = &x->table.at[i];
    RGI_TRY(find_version(x, e, &at, &has));
    if (e->counts && !e->ended && !at)
      RGI_TRY(make_absent(x, e, &at));
    if (!at)
      continue;
    rgi_record *r = rgi_record_at(at);
    r->left = e->left;
    r->ended = e->ended;
    r->home = e->ended ? x->ranks[e->holder] : -1;
  }
  return RG_SUCCESS;
}

/* Takes the key from records that do not count. */
static int sweep_store(const rgi_record_exchange *x) {
  uint64_t found;
  for (uint64_t at = rgi_store_next(x->index->store, 0); at;
       at = rgi_store_next(x->index->store, at)) {
    rgi_record *r = rgi_record_at(at);
    const rgi_record_table_entry *e = rgi_record_table_find(&x->table, r->key);
    RGI_TRY(rgi_record_index_find(x->index, r->key, &found));
    if (found != at || !e || !e->counts)
      r->key = 0;
  }
  rgi_record_index_clear(x->index);
  return RG_SUCCESS;
}

static int agree_all(rgi_record_exchange *x) {
  for (int again = 1; again;) {
    RGI_TRY(make_table(x));
    RGI_TRY(share_error(x, give_up_lacking(x, &again)));
  }
  RGI_TRY(note_entries(x));
  return sweep_store(x);
}

int rgi_record_exchange_agree(rgi_record_exchange *x) {
  return end_step(x, agree_all(x));
}

/* --- the records ------------------------------------------------------------------------------ */

/* Node `to` is to have the version of an entry. */
static int want_entry(rgi_record_exchange *x, const rgi_record_table_entry *e, int to) {
  uint64_t at;
  int has;
  if (to != x->mine)
    return RG_SUCCESS;
  RGI_TRY(find_version(x, e, &at, &has));
  if (has)
    return RG_SUCCESS;
  if (x->wanted.count == x->wanted.room) {
    int64_t room = 2 * x->wanted.room + 64;
    uint64_t *keys = realloc(x->wanted.key, (size_t)room * sizeof *keys);
    x->wanted.key = keys ? keys : x->wanted.key;
    int32_t *from = realloc(x->wanted.from, (size_t)room * sizeof *from);
    x->wanted.from = from ? from : x->wanted.from;
    if (!keys || !from)
      return rgi_error(RG_ERR_NOMEM, "no memory for %lld walkers", (long long)room);
    x->wanted.room = room;
  }
  x->wanted.key[x->wanted.count] = e->key;
  x->wanted.from[x->wanted.count++] = e->holder;
  return RG_SUCCESS;
}

/* The keys that this node wants, for each node that has them. */
static int deal_wanted(const rgi_record_exchange *x, pieces *out) {
  for (int64_t i = 0; i < x->wanted.count; i++)
    out->bytes[x->wanted.from[i]] += (MPI_Count)sizeof *x->wanted.key;
  RGI_TRY(size_pieces(out, x->nodes));
  memset(out->bytes, 0, (size_t)x->nodes * sizeof *out->bytes);
  for (int64_t i = 0; i < x->wanted.count; i++) {
    int from = x->wanted.from[i];
    memcpy(out->all + out->places[from] + out->bytes[from], &x->wanted.key[i],
           sizeof *x->wanted.key);
    out->bytes[from] += (MPI_Count)sizeof *x->wanted.key;
  }
  return RG_SUCCESS;
}

/* Packs the records that the nodes have asked for. */
static int answer_wanted(const rgi_record_exchange *x, const pieces *asked, pieces *out) {
  rgi_record_pack pack = {0};
  uint64_t key, at;
  int error = RG_SUCCESS;
  for (int i = 0; i < x->nodes; i++) {
    size_t before = pack.bytes;
    for (MPI_Count k = 0; k < asked->bytes[i] && !error; k += (MPI_Count)sizeof key) {
      memcpy(&key, asked->all + asked->places[i] + k, sizeof key);
      error = rgi_record_index_find(x->index, key, &at);
      if (!error)
        error = rgi_record_pack_add(&pack, at);
    }
    out->bytes[i] = (MPI_Count)(pack.bytes - before);
    out->places[i + 1] = (MPI_Aint)pack.bytes;
  }
  out->all = pack.memory;
  return error;
}

/* Asks for the records that this node wants, and takes them in. */
static int fetch_wanted(rgi_record_exchange *x, int error) {
  pieces keys = {0}, asked = {0}, packed = {0}, in = {0};
  uint64_t last;
  if (!error)
    error = open_pieces(&keys, x->nodes);
  if (!error)
    error = open_pieces(&packed, x->nodes);
  if (!error)
    error = deal_wanted(x, &keys);
  error = swap_pieces(x, &keys, &asked, error);
  if (!error)
    error = swap_pieces(x, &packed, &in, answer_wanted(x, &asked, &packed));
  if (!error) {
    x->traffic->tables += bytes_come(x, &asked);
    x->traffic->records += bytes_come(x, &in);
    error =
        share_error(x, rgi_record_pack_take(x->index, in.all, (size_t)in.places[x->nodes], &last));
  }
  free_pieces(&keys);
  free_pieces(&asked);
  free_pieces(&packed);
  free_pieces(&in);
  x->wanted.count = 0;
  return error;
}

/* A copy in another domain than that of the two nodes, if they are in one. */
static int want_copy(rgi_record_exchange *x, const rgi_record_table_entry *e, int node) {
  return e->other < 0 && x->domain[node] == x->domain[e->holder]
             ? want_entry(x, e, x->buddies[node])
             : RG_SUCCESS;
}

static int want_moved(rgi_record_exchange *x, const rgi_queue *list, const int homes[]) {
  for (int i = 0; i < list->count; i++) {
    rgi_record *r = rgi_record_at(list->at[i].record);
    const rgi_record_table_entry *e = rgi_record_table_find(&x->table, r->key);
    r->home = x->ranks[homes[i]];
    RGI_TRY(want_entry(x, e, homes[i]));
    RGI_TRY(want_copy(x, e, homes[i]));
  }
  for (int64_t i = 0; i < x->table.count; i++)
    if (x->table.at[i].counts && x->table.at[i].ended)
      RGI_TRY(want_copy(x, &x->table.at[i], x->table.at[i].holder));
  return RG_SUCCESS;
}

int rgi_record_exchange_move(rgi_record_exchange *x, const rgi_queue *list, const int homes[]) {
  return end_step(x, fetch_wanted(x, want_moved(x, list, homes)));
}

/* Returns how many outcomes no node has. */
static int64_t count_lost(const rgi_record_table *t) {
  int64_t lost = 0;
  for (int64_t i = 0; i < t->count; i++)
    if (t->at[i].counts)
      lost += !t->at[i].ended + t->at[i].born - t->at[i].children;
  return lost;
}

static int want_outcomes(rgi_record_exchange *x, int node) {
  int to = node < 0 ? x->mine : node;
  int error = RG_SUCCESS;
  for (int64_t i = 0; i < x->table.count && !error; i++)
    if (x->table.at[i].counts)
      error = want_entry(x, &x->table.at[i], to);
  return error;
}

int rgi_record_exchange_gather(rgi_record_exchange *x, int node) {
  int error = make_table(x);
  if (!error)
    error = fetch_wanted(x, want_outcomes(x, node));
  if (!error)
    x->index->store->shared->lost = count_lost(&x->table);
  return end_step(x, error);
}
