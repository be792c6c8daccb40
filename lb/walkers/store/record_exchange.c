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
#include "base/grow.h"
#include "base/mix.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "machine/domain.h"
#include "walkers/store/record.h"
#include "walkers/store/record_exchange.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_table.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"

enum { LEADERS_TAG = 0x0ba1a4d2 };

/* --- open, close -------------------------------------------------------------------------- */

/* Sets the leader, the first rank, of each node; and of each rank its node. */
static int list_leaders(const rgi_membership *members, int ranks[], int node_of[]) {
  int n = 0;
  for (int r = 0; r < members->size; r++) {
    int node = rgi_membership_node_of(members, r), i = 0;
    while (i < n && rgi_membership_node_of(members, ranks[i]) != node)
      i++;
    if (i == n)
      ranks[n++] = r;
    node_of[r] = i;
  }
  return n;
}

/* If there is one domain only, each node is one. */
static void name_domains(rgi_record_exchange *exchange, const rgi_membership *members) {
  int several = 0;
  for (int i = 0; i < exchange->nodes; i++) {
    exchange->domain[i] =
        rgi_domain_of(rgi_members_at(members->group->members, exchange->ranks[i]));
    several |= exchange->domain[i] != exchange->domain[0];
  }
  for (int i = 0; i < exchange->nodes && !several; i++)
    exchange->domain[i] = (uint64_t)i;
}

static int find_nodes(rgi_record_exchange *exchange, const rgi_membership *members) {
  size_t n = (size_t)members->size;
  exchange->domain = rgi_spare_alloc_zeroed(n, sizeof *exchange->domain + 2 * sizeof(int));
  int *work = rgi_spare_alloc_zeroed(n, 2 * sizeof *work), error = RG_SUCCESS;
  if (!exchange->domain || !work)
    error = rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", members->size);
  if (!error) {
    exchange->ranks = (int *)(void *)(exchange->domain + n);
    exchange->buddies = exchange->ranks + n;
    exchange->nodes = list_leaders(members, exchange->ranks, work);
    exchange->mine = work[members->rank];
    name_domains(exchange, members);
    error = rgi_membership_buddies(members, work + n);
  }
  for (int i = 0; i < exchange->nodes && !error; i++)
    exchange->buddies[i] = work[work[n + (size_t)exchange->ranks[i]]];
  rgi_spare_free(work);
  return error;
}

int rgi_record_exchange_open(rgi_record_exchange *exchange, rgi_record_index *index,
                             rgi_record_exchange_traffic *traffic) {
  const rgi_membership *members = index->store->members;
  *exchange = (rgi_record_exchange){.index = index, .traffic = traffic};
  RGI_TRY(find_nodes(exchange, members));
  RGI_TRY(rg_group_create(members->group, exchange->nodes, exchange->ranks, LEADERS_TAG,
                          &exchange->group));
  exchange->group->creation_ids[RGI_CREATION_IDS - 1] = members->group->context;
  rgi_record_index_clear(index);
  return RG_SUCCESS;
}

void rgi_record_exchange_close(rgi_record_exchange *exchange) {
  rgi_record_table_free(&exchange->table);
  rgi_spare_free(exchange->wanted.at);
  rgi_spare_free(exchange->domain);
  rg_group_free(&exchange->group);
  rgi_record_index_clear(exchange->index);
  *exchange = (rgi_record_exchange){0};
}

/* A leader that gives up revokes the group, so that the others do, too. */
static int end_step(const rgi_record_exchange *exchange, int error) {
  if (error) {
    char *text = strdupa(rg_error_detail());
    rg_group_revoke(exchange->group);
    rgi_error(error, "%s", text);
  }
  return error;
}

/* The end of what each leader has done by itself. */
static int share_error(const rgi_record_exchange *exchange, int error) {
  return rgi_group_error_share(exchange->group, exchange->index->store->members->call, error);
}

/* --- bytes for each node ---------------------------------------------------------------------- */

/* Pieces for the nodes, or from them, one after another. */
typedef struct {
  char *all;
  MPI_Count *bytes;
  MPI_Aint *places;
} pieces;

static int open_pieces(pieces *all, int nodes) {
  *all = (pieces){.bytes = rgi_spare_alloc_zeroed((size_t)nodes, sizeof *all->bytes),
                  .places = rgi_spare_alloc_zeroed((size_t)nodes + 1, sizeof *all->places)};
  return all->bytes && all->places ? RG_SUCCESS
                                   : rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", nodes);
}

static void free_pieces(pieces *all) {
  rgi_spare_free(all->all);
  rgi_spare_free(all->bytes);
  rgi_spare_free(all->places);
}

/* When the bytes are known: the places, and the memory. */
static int size_pieces(pieces *all, int nodes) {
  for (int i = 0; i < nodes; i++)
    all->places[i + 1] = all->places[i] + (MPI_Aint)all->bytes[i];
  size_t total = (size_t)all->places[nodes];
  all->all = rgi_spare_alloc(total ? total : 1);
  return all->all ? RG_SUCCESS
                  : rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of walkers", total);
}

/* Entries of `each` bytes, of which the first `sent` go to the node that node_of says. */
typedef struct {
  const void *at;
  int64_t count;
  size_t each, sent;
  int (*node_of)(const rgi_record_exchange *exchange, const void *entry);
} entry_list;

static int deal_entries(const rgi_record_exchange *exchange, const entry_list *list, pieces *out) {
  const char *at = list->at;
  for (int64_t i = 0; i < list->count; i++)
    out->bytes[list->node_of(exchange, at + (size_t)i * list->each)] += (MPI_Count)list->sent;
  RGI_TRY(size_pieces(out, exchange->nodes));
  memset(out->bytes, 0, (size_t)exchange->nodes * sizeof *out->bytes);
  for (int64_t i = 0; i < list->count; i++, at += list->each) {
    int to = list->node_of(exchange, at);
    memcpy(out->all + out->places[to] + out->bytes[to], at, list->sent);
    out->bytes[to] += (MPI_Count)list->sent;
  }
  return RG_SUCCESS;
}

/* Bytes that have come from other nodes. */
static int64_t bytes_come(const rgi_record_exchange *exchange, const pieces *in) {
  return (int64_t)in->places[exchange->nodes] - (int64_t)in->bytes[exchange->mine];
}

/* Sends a piece to each node, and gets one of each. error: of making the pieces; `in` is made
 * here. */
static int swap_pieces(const rgi_record_exchange *exchange, const pieces *out, pieces *in,
                       int error) {
  *in = (pieces){0};
  if (!error)
    error = open_pieces(in, exchange->nodes);
  RGI_TRY(share_error(exchange, error));
  RGI_TRY(rg_alltoall(exchange->group, out->bytes, 1, MPI_COUNT, in->bytes, 1, MPI_COUNT));
  RGI_TRY(share_error(exchange, size_pieces(in, exchange->nodes)));
  return rg_alltoallv(exchange->group, out->all, out->bytes, out->places, MPI_BYTE, in->all,
                      in->bytes, in->places, MPI_BYTE);
}

/* --- the table ------------------------------------------------------------------------------- */

static int shard_of(const rgi_record_exchange *exchange, const void *entry) {
  uint64_t key = ((const rgi_record_table_entry *)entry)->key;
  return (int)(rgi_mix_bits(key) % (uint64_t)exchange->nodes);
}

/* The table becomes what has come. */
static void take_entries(rgi_record_exchange *exchange, pieces *in) {
  rgi_record_table_free(&exchange->table);
  exchange->table.at = (void *)in->all;
  exchange->table.count = exchange->table.room =
      (int64_t)in->places[exchange->nodes] / (int64_t)sizeof *exchange->table.at;
  exchange->traffic->tables += bytes_come(exchange, in);
  in->all = NULL;
}

/* This node's share of the table: the keys that select it. */
static int make_share(rgi_record_exchange *exchange) {
  pieces out, in;
  int error = open_pieces(&out, exchange->nodes);
  if (!error)
    error = rgi_record_table_read(&exchange->table, exchange->index, exchange->mine);
  const entry_list table = {.at = exchange->table.at,
                            .count = exchange->table.count,
                            .each = sizeof *exchange->table.at,
                            .sent = sizeof *exchange->table.at,
                            .node_of = shard_of};
  if (!error)
    error = deal_entries(exchange, &table, &out);
  error = swap_pieces(exchange, &out, &in, error);
  if (!error)
    take_entries(exchange, &in);
  free_pieces(&out);
  free_pieces(&in);
  if (!error)
    rgi_record_table_merge(&exchange->table, exchange->domain);
  return error;
}

/* The shares of all nodes. */
static int join_shares(rgi_record_exchange *exchange) {
  pieces in;
  MPI_Count own = (MPI_Count)exchange->table.count * (MPI_Count)sizeof *exchange->table.at;
  int error = share_error(exchange, open_pieces(&in, exchange->nodes));
  if (!error)
    error = rg_allgather(exchange->group, &own, 1, MPI_COUNT, in.bytes, 1, MPI_COUNT);
  if (!error)
    error = share_error(exchange, size_pieces(&in, exchange->nodes));
  if (!error)
    error = rg_allgatherv(exchange->group, exchange->table.at, own, MPI_BYTE, in.all, in.bytes,
                          in.places, MPI_BYTE);
  if (!error)
    take_entries(exchange, &in);
  free_pieces(&in);
  return error;
}

static int make_table(rgi_record_exchange *exchange) {
  RGI_TRY(make_share(exchange));
  RGI_TRY(join_shares(exchange));
  rgi_record_table_merge(&exchange->table, exchange->domain);
  rgi_record_table_mark(&exchange->table);
  return RG_SUCCESS;
}

/* --- what the store is to have --------------------------------------------------------------- */

/* Whether this node has the entry's version. *offset: the walker's record, or 0. */
static int find_version(const rgi_record_exchange *exchange, const rgi_record_table_entry *entry,
                        uint64_t *offset, int *has) {
  RGI_TRY(rgi_record_index_find(exchange->index, entry->key, offset));
  *has = *offset && rgi_record_table_is(entry, rgi_record_current(rgi_record_at(*offset)));
  return RG_SUCCESS;
}

/* Gives up versions whose children are not all there. A walker of the first list begins again; one
 * that a unit has made is made again, unless another node has an older version. */
static int give_up_lacking(const rgi_record_exchange *exchange, int *any) {
  uint64_t at;
  int has;
  *any = 0;
  for (int64_t i = 0; i < exchange->table.count; i++) {
    const rgi_record_table_entry *entry = &exchange->table.at[i];
    if (!rgi_record_table_lacks(entry))
      continue;
    *any = 1;
    RGI_TRY(find_version(exchange, entry, &at, &has));
    if (has && entry->parent)
      rgi_record_at(at)->key = 0;
    else if (has)
      rgi_record_revert(rgi_record_at(at));
  }
  rgi_record_index_clear(exchange->index);
  return RG_SUCCESS;
}

/* The record of a walker that only other nodes have. */
static int make_absent(const rgi_record_exchange *exchange, const rgi_record_table_entry *entry,
                       uint64_t *offset) {
  RGI_TRY(rgi_arena_alloc("a walker", sizeof(rgi_record), offset));
  rgi_record *record = rgi_record_at(*offset);
  memset(record, 0, sizeof *record);
  record->key = entry->key;
  record->parent = entry->parent;
  record->number = entry->number;
  record->id = entry->id;
  record->least = entry->least;
  record->most = entry->most;
  record->unit = entry->unit;
  record->version[0].done = RGI_RECORD_ABSENT;
  rgi_store_push(exchange->index->store, *offset);
  return RG_SUCCESS;
}

static int note_entries(const rgi_record_exchange *exchange) {
  uint64_t at;
  int has;
  for (int64_t i = 0; i < exchange->table.count; i++) {
    const rgi_record_table_entry *entry = &exchange->table.at[i];
    RGI_TRY(find_version(exchange, entry, &at, &has));
    if (entry->counts && !entry->ended && !at)
      RGI_TRY(make_absent(exchange, entry, &at));
    if (!at)
      continue;
    rgi_record *record = rgi_record_at(at);
    record->left = entry->left;
    record->ended = entry->ended;
    record->home = entry->ended ? exchange->ranks[entry->holder] : -1;
  }
  return RG_SUCCESS;
}

/* Takes the key from records that do not count. */
static int sweep_store(const rgi_record_exchange *exchange) {
  uint64_t found;
  for (uint64_t at = rgi_store_next(exchange->index->store, 0); at;
       at = rgi_store_next(exchange->index->store, at)) {
    rgi_record *record = rgi_record_at(at);
    const rgi_record_table_entry *entry = rgi_record_table_find(&exchange->table, record->key);
    RGI_TRY(rgi_record_index_find(exchange->index, record->key, &found));
    if (found != at || !entry || !entry->counts)
      record->key = 0;
  }
  rgi_record_index_clear(exchange->index);
  return RG_SUCCESS;
}

static int agree_all(rgi_record_exchange *exchange) {
  for (int again = 1; again;) {
    RGI_TRY(make_table(exchange));
    RGI_TRY(share_error(exchange, give_up_lacking(exchange, &again)));
  }
  RGI_TRY(note_entries(exchange));
  return sweep_store(exchange);
}

int rgi_record_exchange_agree(rgi_record_exchange *exchange) {
  return end_step(exchange, agree_all(exchange));
}

/* --- the records ------------------------------------------------------------------------------ */

/* Node `to` is to have the version of an entry. */
static int want_entry(rgi_record_exchange *exchange, const rgi_record_table_entry *entry, int to) {
  uint64_t at;
  int has;
  if (to != exchange->mine)
    return RG_SUCCESS;
  RGI_TRY(find_version(exchange, entry, &at, &has));
  if (has)
    return RG_SUCCESS;
  RGI_TRY(rgi_grow(&exchange->wanted.at, exchange->wanted.count, &exchange->wanted.room,
                   sizeof *exchange->wanted.at, "no memory for %lld walkers"));
  exchange->wanted.at[exchange->wanted.count++] =
      (rgi_record_exchange_wanted){entry->key, entry->holder};
  return RG_SUCCESS;
}

static int holder_of(const rgi_record_exchange *exchange, const void *entry) {
  (void)exchange;
  return ((const rgi_record_exchange_wanted *)entry)->from;
}

/* Packs the records that the nodes have asked for. */
static int answer_wanted(const rgi_record_exchange *exchange, const pieces *asked, pieces *out) {
  rgi_record_pack pack = {0};
  uint64_t key, at;
  int error = RG_SUCCESS;
  for (int i = 0; i < exchange->nodes; i++) {
    size_t before = pack.bytes;
    for (MPI_Count k = 0; k < asked->bytes[i] && !error; k += (MPI_Count)sizeof key) {
      memcpy(&key, asked->all + asked->places[i] + k, sizeof key);
      error = rgi_record_index_find(exchange->index, key, &at);
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
static int fetch_wanted(rgi_record_exchange *exchange, int error) {
  pieces keys = {0}, asked = {0}, packed = {0}, in = {0};
  const entry_list wanted = {.at = exchange->wanted.at,
                             .count = exchange->wanted.count,
                             .each = sizeof *exchange->wanted.at,
                             .sent = sizeof exchange->wanted.at->key,
                             .node_of = holder_of};
  uint64_t last;
  if (!error)
    error = open_pieces(&keys, exchange->nodes);
  if (!error)
    error = open_pieces(&packed, exchange->nodes);
  if (!error)
    error = deal_entries(exchange, &wanted, &keys);
  error = swap_pieces(exchange, &keys, &asked, error);
  if (!error)
    error = swap_pieces(exchange, &packed, &in, answer_wanted(exchange, &asked, &packed));
  if (!error) {
    exchange->traffic->tables += bytes_come(exchange, &asked);
    exchange->traffic->records += bytes_come(exchange, &in);
    error = share_error(exchange, rgi_record_pack_take(exchange->index, in.all,
                                                       (size_t)in.places[exchange->nodes], &last));
  }
  free_pieces(&keys);
  free_pieces(&asked);
  free_pieces(&packed);
  free_pieces(&in);
  exchange->wanted.count = 0;
  return error;
}

/* A copy in another domain than that of the two nodes, if they are in one. */
static int want_copy(rgi_record_exchange *exchange, const rgi_record_table_entry *entry, int node) {
  return entry->other < 0 && exchange->domain[node] == exchange->domain[entry->holder]
             ? want_entry(exchange, entry, exchange->buddies[node])
             : RG_SUCCESS;
}

static int want_moved(rgi_record_exchange *exchange, const rgi_queue *list, const int homes[]) {
  for (int i = 0; i < list->count; i++) {
    rgi_record *record = rgi_record_at(list->at[i].record);
    const rgi_record_table_entry *entry = rgi_record_table_find(&exchange->table, record->key);
    record->home = exchange->ranks[homes[i]];
    RGI_TRY(want_entry(exchange, entry, homes[i]));
    RGI_TRY(want_copy(exchange, entry, homes[i]));
  }
  for (int64_t i = 0; i < exchange->table.count; i++)
    if (exchange->table.at[i].counts && exchange->table.at[i].ended)
      RGI_TRY(want_copy(exchange, &exchange->table.at[i], exchange->table.at[i].holder));
  return RG_SUCCESS;
}

int rgi_record_exchange_move(rgi_record_exchange *exchange, const rgi_queue *list,
                             const int homes[]) {
  return end_step(exchange, fetch_wanted(exchange, want_moved(exchange, list, homes)));
}

/* Returns how many outcomes no node has. */
static int64_t count_lost(const rgi_record_table *table) {
  int64_t lost = 0;
  for (int64_t i = 0; i < table->count; i++)
    if (table->at[i].counts)
      lost += !table->at[i].ended + table->at[i].born - table->at[i].children;
  return lost;
}

static int want_outcomes(rgi_record_exchange *exchange, int node) {
  int to = node < 0 ? exchange->mine : node;
  int error = RG_SUCCESS;
  for (int64_t i = 0; i < exchange->table.count && !error; i++)
    if (exchange->table.at[i].counts)
      error = want_entry(exchange, &exchange->table.at[i], to);
  return error;
}

int rgi_record_exchange_gather(rgi_record_exchange *exchange, int node) {
  int error = make_table(exchange);
  if (!error)
    error = fetch_wanted(exchange, want_outcomes(exchange, node));
  if (!error)
    exchange->index->store->shared->lost = count_lost(&exchange->table);
  return end_step(exchange, error);
}
