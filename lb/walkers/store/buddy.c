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
#include "base/spare.h"
#include "walkers/store/buddy.h"
#include "walkers/store/record_index.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"
#include "walkers/team/wire.h"

#define PAUSE 10e-3 /* seconds between two copies */
enum { MOST_OPEN = 2 };

int rgi_buddy_open(rgi_buddy *buddy) {
  const rgi_membership *members = buddy->index->store->members;
  rgi_buddy_close(buddy);
  if (!rgi_store_spans_nodes(buddy->index->store))
    return RG_SUCCESS;
  int *buddies = rgi_spare_alloc((size_t)members->size * sizeof *buddies);
  int error = buddies ? rgi_membership_buddies(members, buddies)
                      : rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", members->size);
  if (!error)
    buddy->rank = buddies[members->rank];
  rgi_spare_free(buddies);
  return error;
}

void rgi_buddy_close(rgi_buddy *buddy) {
  rgi_record_pack_free(&buddy->mine);
  *buddy = (rgi_buddy){.wire = buddy->wire, .index = buddy->index, .rank = -1};
}

int rgi_buddy_waits(const rgi_buddy *buddy) {
  return buddy->open > 0;
}

int rgi_buddy_add(rgi_buddy *buddy, uint64_t record) {
  return buddy->rank < 0 ? RG_SUCCESS : rgi_record_pack_add(&buddy->mine, record);
}

int rgi_buddy_send(rgi_buddy *buddy, uint64_t record, int ended) {
  double now = buddy->rank < 0 ? 0 : rgi_clock_now();
  if (buddy->rank < 0 || (!ended && (buddy->open >= MOST_OPEN || now - buddy->last < PAUSE)))
    return RG_SUCCESS;
  RGI_TRY(rgi_record_pack_add(&buddy->mine, record));
  buddy->open++;
  buddy->sent++;
  buddy->last = now;
  int error = rgi_wire_send(buddy->wire, buddy->rank, RGI_WIRE_COPY,
                            (int64_t)(buddy->mine.bytes / sizeof(int64_t)),
                            (const int64_t *)(const void *)buddy->mine.memory);
  buddy->mine.bytes = 0;
  return error;
}

static int take_copies(rgi_buddy *buddy, const rgi_wire_received *received) {
  int64_t thanks = 0;
  uint64_t record;
  RGI_TRY(rgi_record_pack_take(buddy->index, received->words,
                               (size_t)received->count * sizeof *received->words, &record));
  return rgi_wire_send(buddy->wire, received->from, RGI_WIRE_COPIED, 1, &thanks);
}

int rgi_buddy_serve(rgi_buddy *buddy) {
  rgi_wire_received received;
  while (buddy->rank >= 0) {
    RGI_TRY(rgi_wire_take(buddy->wire, RGI_WIRE_COPY, &received));
    if (!received.words)
      break;
    int error = take_copies(buddy, &received);
    rgi_spare_free(received.words);
    RGI_TRY(error);
  }
  while (rgi_buddy_waits(buddy)) {
    RGI_TRY(rgi_wire_take(buddy->wire, RGI_WIRE_COPIED, &received));
    if (!received.words)
      break;
    rgi_spare_free(received.words);
    buddy->open--;
  }
  return RG_SUCCESS;
}
