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
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/store.h"
#include "walkers/store_pack.h"
#include "walkers/wire.h"

#define PAUSE 10e-3 /* seconds between two copies */
enum { MOST_OPEN = 2 };

static int node_of(const struct rg_balancer_s *b, int rank) {
  return rgi_node_of(rgi_members_at(b->all->members, rank));
}

/* The node after `mine`, in the order of their numbers, around. */
static int next_node(const struct rg_balancer_s *b, int mine) {
  int next = -1, first = mine;
  for (int r = 0; r < b->size; r++) {
    int node = node_of(b, r);
    if (node > mine && (next < 0 || node < next))
      next = node;
    first = node < first ? node : first;
  }
  return next < 0 ? first : next;
}

static int count_of(const struct rg_balancer_s *b, int node, int below) {
  int n = 0;
  for (int r = 0; r < below; r++)
    n += node_of(b, r) == node;
  return n;
}

/* The processes of this node are divided evenly among those of the next one. */
int rgi_buddy_open(rg_balancer b) {
  rgi_buddy_close(b);
  if (!rgi_store_spans_nodes(b))
    return RG_SUCCESS;
  int mine = node_of(b, b->rank), next = next_node(b, mine);
  int which = count_of(b, mine, b->rank) % count_of(b, next, b->size), r = 0;
  while (node_of(b, r) != next || count_of(b, next, r) != which)
    r++;
  b->buddy.rank = r;
  return RG_SUCCESS;
}

void rgi_buddy_close(rg_balancer b) {
  rgi_store_pack_free(&b->buddy.mine);
  b->buddy = (rgi_balancer_buddy){.rank = -1};
}

int rgi_buddy_waits(const struct rg_balancer_s *b) {
  return b->buddy.open > 0;
}

int rgi_buddy_add(rg_balancer b, uint64_t record) {
  return b->buddy.rank < 0 ? RG_SUCCESS : rgi_store_pack_add(&b->buddy.mine, record);
}

int rgi_buddy_send(rg_balancer b, uint64_t record, int ended) {
  rgi_balancer_buddy *k = &b->buddy;
  double now = k->rank < 0 ? 0 : rgi_clock_now();
  if (k->rank < 0 || (!ended && (k->open >= MOST_OPEN || now - k->last < PAUSE)))
    return RG_SUCCESS;
  RGI_TRY(rgi_store_pack_add(&k->mine, record));
  k->open++;
  k->last = now;
  int error = rgi_wire_send(b, k->rank, RGI_WIRE_COPY, (int)(k->mine.bytes / sizeof(int64_t)),
                            (const int64_t *)(const void *)k->mine.memory);
  k->mine.bytes = 0;
  return error;
}

static int take_copies(rg_balancer b, int from, const int64_t words[], int count) {
  int64_t thanks = 0;
  uint64_t record;
  RGI_TRY(rgi_store_pack_take(b, words, (size_t)count * sizeof *words, &record));
  return rgi_wire_send(b, from, RGI_WIRE_COPIED, 1, &thanks);
}

int rgi_buddy_serve(rg_balancer b) {
  int from, count;
  int64_t *words;
  while (b->buddy.rank >= 0) {
    RGI_TRY(rgi_wire_take(b, RGI_WIRE_COPY, &from, &count, &words));
    if (!words)
      break;
    int error = take_copies(b, from, words, count);
    free(words);
    RGI_TRY(error);
  }
  while (rgi_buddy_waits(b)) {
    RGI_TRY(rgi_wire_take(b, RGI_WIRE_COPIED, &from, &count, &words));
    if (!words)
      break;
    free(words);
    b->buddy.open--;
  }
  return RG_SUCCESS;
}
