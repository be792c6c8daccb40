/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A node whose processes all die takes its store with it. So each process has a buddy on another
 * node, outside its failure domain, to which it sends the records of the walkers that its groups
 * work on. Not after each unit, but every 10 ms at most, and without waiting: a walker that goes on
 * from an earlier unit has the same results. A buddy answers each copy; while two are unanswered,
 * no further one is sent except when a walker ends. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "walkers/store/buddy.h"
#include "walkers/store/record_pack.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"
#include "walkers/team/wire.h"

#define PAUSE 10e-3 /* seconds between two copies */
enum { MOST_OPEN = 2 };

int rgi_buddy_open(rgi_buddy *k) {
  const rgi_membership *m = k->index->store->members;
  rgi_buddy_close(k);
  if (!rgi_store_spans_nodes(k->index->store))
    return RG_SUCCESS;
  int *buddies = malloc((size_t)m->size * sizeof *buddies);
  int error = buddies ? rgi_membership_buddies(m, buddies)
                      : rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", m->size);
  if (!error)
    k->rank = buddies[m->rank];
  free(buddies);
  return error;
}

void rgi_buddy_close(rgi_buddy *k) {
  rgi_record_pack_free(&k->mine);
  *k = (rgi_buddy){.wire = k->wire, .index = k->index, .rank = -1};
}

int rgi_buddy_waits(const rgi_buddy *k) {
  return k->open > 0;
}

int rgi_buddy_add(rgi_buddy *k, uint64_t record) {
  return k->rank < 0 ? RG_SUCCESS : rgi_record_pack_add(&k->mine, record);
}

int rgi_buddy_send(rgi_buddy *k, uint64_t record, int ended) {
  double now = k->rank < 0 ? 0 : rgi_clock_now();
  if (k->rank < 0 || (!ended && (k->open >= MOST_OPEN || now - k->last < PAUSE)))
    return RG_SUCCESS;
  RGI_TRY(rgi_record_pack_add(&k->mine, record));
  k->open++;
  k->sent++;
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
  RGI_TRY(rgi_record_pack_take(k->index, m->words, (size_t)m->count * sizeof *m->words, &record));
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
