/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A node whose processes all die takes its store with it. So each process has a buddy on the next
 * node, to which it sends the records of the walkers that its groups work on. Not after each unit,
 * but every 10 ms at most, and without waiting: a walker that goes on from an earlier unit has the
 * same results. A buddy answers each copy; while two are unanswered, no further one is sent except
 * when a walker ends. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "shm/node.h"
#include "walkers/buddy.h"
#include "walkers/store.h"
#include "walkers/store_pack.h"
#include "walkers/wire.h"

#define PAUSE 10e-3 /* seconds between two copies */
enum { MOST_OPEN = 2 };

/* The node after `mine`, in the order of their numbers, around. */
static int next_node(const rgi_membership *m, int mine) {
  int next = -1, first = mine;
  for (int r = 0; r < m->size; r++) {
    int node = rgi_membership_node_of(m, r);
    if (node > mine && (next < 0 || node < next))
      next = node;
    first = node < first ? node : first;
  }
  return next < 0 ? first : next;
}

static int count_of(const rgi_membership *m, int node, int below) {
  int n = 0;
  for (int r = 0; r < below; r++)
    n += rgi_membership_node_of(m, r) == node;
  return n;
}

/* The processes of this node are divided evenly among those of the next one. */
int rgi_buddy_open(rgi_buddy *k) {
  const rgi_membership *m = k->index->store->members;
  rgi_buddy_close(k);
  if (!rgi_store_spans_nodes(k->index->store))
    return RG_SUCCESS;
  int mine = rgi_membership_node_of(m, m->rank), next = next_node(m, mine);
  int which = count_of(m, mine, m->rank) % count_of(m, next, m->size), r = 0;
  while (rgi_membership_node_of(m, r) != next || count_of(m, next, r) != which)
    r++;
  k->rank = r;
  return RG_SUCCESS;
}

void rgi_buddy_close(rgi_buddy *k) {
  rgi_store_pack_free(&k->mine);
  *k = (rgi_buddy){.wire = k->wire, .index = k->index, .rank = -1};
}

int rgi_buddy_waits(const rgi_buddy *k) {
  return k->open > 0;
}

int rgi_buddy_add(rgi_buddy *k, uint64_t record) {
  return k->rank < 0 ? RG_SUCCESS : rgi_store_pack_add(&k->mine, record);
}

int rgi_buddy_send(rgi_buddy *k, uint64_t record, int ended) {
  double now = k->rank < 0 ? 0 : rgi_clock_now();
  if (k->rank < 0 || (!ended && (k->open >= MOST_OPEN || now - k->last < PAUSE)))
    return RG_SUCCESS;
  RGI_TRY(rgi_store_pack_add(&k->mine, record));
  k->open++;
  k->last = now;
  int error =
      rgi_wire_send(k->wire, k->rank, RGI_WIRE_COPY, (int64_t)(k->mine.bytes / sizeof(int64_t)),
                    (const int64_t *)(const void *)k->mine.memory);
  k->mine.bytes = 0;
  return error;
}

static int take_copies(rgi_buddy *k, const rgi_wire_received *m) {
  int64_t thanks = 0;
  uint64_t record;
  RGI_TRY(rgi_store_pack_take(k->index, m->words, (size_t)m->count * sizeof *m->words, &record));
  return rgi_wire_send(k->wire, m->from, RGI_WIRE_COPIED, 1, &thanks);
}

int rgi_buddy_serve(rgi_buddy *k) {
  rgi_wire_received m;
  while (k->rank >= 0) {
    RGI_TRY(rgi_wire_take(k->wire, RGI_WIRE_COPY, &m));
    if (!m.words)
      break;
    int error = take_copies(k, &m);
    free(m.words);
    RGI_TRY(error);
  }
  while (rgi_buddy_waits(k)) {
    RGI_TRY(rgi_wire_take(k->wire, RGI_WIRE_COPIED, &m));
    if (!m.words)
      break;
    free(m.words);
    k->open--;
  }
  return RG_SUCCESS;
}
