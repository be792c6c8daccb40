/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The entries of a node stand side by side in the order of its ranks, in the words that cluster.h
 * has for each process. Those of another node are reached by queries to its server, each of which
 * is executed once. */
#include "intercomm/reserve_entry.h"

#include <poll.h>
#include <string.h>

#include "access/element.h"
#include "base/error.h"
#include "base/spare.h"
#include "noded/client/daemon_client.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "runtime/cluster.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "shm/process.h"

static struct {
  int spread;                /* the entries are in the arenas of all nodes */
  rgi_reserve_entry *mine;   /* of the caller's node, or all */
  int *place;                /* of each rank on its node */
  int *count;                /* of processes in each part */
  int *ranks, *begin;        /* part by part; where each begins */
  rgi_daemon_client *client; /* to each node; NULL: there is one node */
} entries;

_Static_assert(sizeof(rgi_reserve_entry) == RGI_CLUSTER_WORDS_BYTES, "it fits");

/* --- open and close -------------------------------------------------------------------- */

static int part_of(int rank) {
  return entries.spread ? rgi_node_of(rank) : 0;
}

static int find_places(void) {
  int size = rgi_runtime.size, parts = rgi_reserve_entries_parts();
  entries.place = rgi_spare_alloc((size_t)size * sizeof *entries.place);
  entries.ranks = rgi_spare_alloc((size_t)size * sizeof *entries.ranks);
  entries.count = rgi_spare_alloc_zeroed((size_t)parts, sizeof *entries.count);
  entries.begin = rgi_spare_alloc_zeroed((size_t)parts + 1, sizeof *entries.begin);
  if (!entries.place || !entries.ranks || !entries.count || !entries.begin)
    return rgi_error(RG_ERR_NOMEM, "rg_reserve_open: no memory for %d processes", size);
  for (int i = 0; i < size; i++)
    entries.place[i] = entries.count[part_of(i)]++;
  for (int i = 0; i < parts; i++)
    entries.begin[i + 1] = entries.begin[i] + entries.count[i];
  for (int i = 0; i < size; i++)
    entries.ranks[entries.begin[part_of(i)] + entries.place[i]] = i;
  return RG_SUCCESS;
}

static int make_clients(void) {
  entries.client = rgi_spare_alloc_zeroed((size_t)rgi_node.count, sizeof *entries.client);
  if (!entries.client)
    return rgi_error(RG_ERR_NOMEM, "rg_reserve_open: no memory for %d nodes", rgi_node.count);
  for (int i = 0; i < rgi_node.count; i++)
    entries.client[i] = (rgi_daemon_client){.node = i, .use = RGI_QUERY_RESERVE, .tcp = {.fd = -1}};
  return RG_SUCCESS;
}

int rgi_reserve_entries_open(int spread) {
  entries.spread = spread;
  RGI_TRY(find_places());
  if (spread) {
    entries.mine = (void *)((char *)rgi_arena_heap() + rgi_cluster_words(rgi_node.n));
    return make_clients();
  }
  entries.mine = rgi_spare_alloc_zeroed((size_t)rgi_runtime.size, sizeof *entries.mine);
  return entries.mine ? RG_SUCCESS
                      : rgi_error(RG_ERR_NOMEM, "rg_reserve_open: no memory for %d processes",
                                  rgi_runtime.size);
}

void rgi_reserve_entries_close(void) {
  for (int i = 0; entries.client && i < rgi_node.count; i++)
    rgi_daemon_client_close(&entries.client[i]);
  if (!entries.spread)
    rgi_spare_free(entries.mine);
  rgi_spare_free(entries.place);
  rgi_spare_free(entries.ranks);
  rgi_spare_free(entries.begin);
  rgi_spare_free(entries.count);
  rgi_spare_free(entries.client);
  memset(&entries, 0, sizeof entries);
}

/* --- other nodes ------------------------------------------------------------------------- */

static int await_answer(rgi_daemon_client *client, rgi_wait *wait) {
  while (!rgi_daemon_client_step(client)) {
    struct pollfd p = {client->tcp.fd, rgi_daemon_client_awaits(client), 0};
    if (rgi_daemon_client_node_dead(client))
      return RG_ERR_PROC_FAILED;
    if (rgi_daemon_client_is_stuck(client))
      return rgi_daemon_client_report(client, RG_ERR_SYSTEM, "the reserve's directory");
    if (poll(&p, 1, rgi_wait_meanwhile ? 0 : 1) == 0)
      RGI_TRY(rgi_requests_progress_all());
    RGI_TRY(rgi_wait_check(wait));
  }
  return RG_SUCCESS;
}

/* RG_ERR_PROC_FAILED, with no text: the node is lost. */
static int query_node(int node, const rgi_query *query, const void *data, void *answer) {
  const rgi_query_entry run = {0, (int64_t)query->bytes};
  rgi_daemon_client *client = &entries.client[node];
  rgi_daemon_client_query request = {
      .query = *query, .entries = &run, .data = data, .answer = answer};
  rgi_wait wait;
  if (rgi_daemon_client_node_dead(client))
    return RG_ERR_PROC_FAILED;
  rgi_wait_start_unscoped(&wait, "the reserve's directory", -1);
  rgi_daemon_client_send(client, &request);
  int error = await_answer(client, &wait);
  if (error)
    rgi_daemon_client_give_up(client);
  return error;
}

/* Where the entry of a place is, for a query to its node. */
static uint64_t offset_of(int node, int place) {
  return rgi_cluster_words(entries.count[node]) + (uint64_t)place * sizeof(rgi_reserve_entry);
}

/* --- all ----------------------------------------------------------------------------------- */

/* The entry, if it is in memory that the caller can reach. */
static rgi_reserve_entry *find_entry(int rank) {
  if (!entries.spread)
    return &entries.mine[rank];
  return rgi_node_of(rank) == rgi_node.mine ? &entries.mine[entries.place[rank]] : NULL;
}

static void copy_entry(const rgi_reserve_entry *from, rgi_reserve_entry *to) {
  to->word = __atomic_load_n(&from->word, __ATOMIC_SEQ_CST);
  to->number = __atomic_load_n(&from->number, __ATOMIC_SEQ_CST);
}

static int read_node(int node, rgi_reserve_entry all[]) {
  size_t bytes = (size_t)entries.count[node] * sizeof *all;
  rgi_reserve_entry *there = rgi_spare_alloc_zeroed(1, bytes);
  const rgi_query q = {
      .kind = RGI_ACCESS_KIND_GET, .runs = 1, .offset = offset_of(node, 0), .bytes = bytes};
  if (!there)
    return rgi_error(RG_ERR_NOMEM, "the reserve's directory: no memory for %zu bytes", bytes);
  int error = query_node(node, &q, NULL, there);
  if (error == RG_ERR_PROC_FAILED)
    memset(there, 0, bytes);
  for (int i = 0; i < entries.count[node]; i++)
    all[entries.ranks[entries.begin[node] + i]] = there[i];
  rgi_spare_free(there);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

int rgi_reserve_entries_parts(void) {
  return entries.spread ? rgi_node.count : 1;
}

const int *rgi_reserve_entries_ranks(int part, int *count) {
  *count = entries.count[part];
  return entries.ranks + entries.begin[part];
}

int rgi_reserve_entries_read(int part, rgi_reserve_entry all[]) {
  int n;
  const int *ranks = rgi_reserve_entries_ranks(part, &n);
  if (entries.spread && part != rgi_node.mine)
    return read_node(part, all);
  for (int i = 0; i < n; i++)
    copy_entry(find_entry(ranks[i]), &all[ranks[i]]);
  return RG_SUCCESS;
}

int rgi_reserve_entries_read_all(rgi_reserve_entry all[]) {
  for (int i = 0; i < rgi_reserve_entries_parts(); i++)
    RGI_TRY(rgi_reserve_entries_read(i, all));
  return RG_SUCCESS;
}

int rgi_reserve_entry_swap(int rank, int64_t *word, int64_t next) {
  rgi_reserve_entry *e = find_entry(rank);
  int64_t expected = *word, before;
  if (e) {
    *word = rgi_element_compare_swap(RGI_ELEMENT_INT64, &e->word, expected, next);
    return RG_SUCCESS;
  }
  const rgi_query q = {.kind = RGI_ACCESS_KIND_COMPARE_SWAP,
                       .element_type = RGI_ELEMENT_INT64,
                       .offset = offset_of(rgi_node_of(rank), entries.place[rank]),
                       .bytes = sizeof expected,
                       .a = expected,
                       .b = next};
  RGI_TRY(query_node(rgi_node_of(rank), &q, NULL, &before));
  *word = before;
  return RG_SUCCESS;
}

int rgi_reserve_entry_set_number(int rank, uint64_t number) {
  rgi_reserve_entry *e = find_entry(rank);
  uint64_t unused;
  if (e) {
    __atomic_store_n(&e->number, number, __ATOMIC_SEQ_CST);
    return RG_SUCCESS;
  }
  const rgi_query q = {.kind = RGI_ACCESS_KIND_PUT,
                       .runs = 1,
                       .offset = offset_of(rgi_node_of(rank), entries.place[rank]) +
                                 offsetof(rgi_reserve_entry, number),
                       .bytes = sizeof number};
  return query_node(rgi_node_of(rank), &q, &number, &unused);
}
