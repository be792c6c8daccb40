/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the leader of a walker's group writes into the walker store. */
#ifndef RGI_STORE_RECORD_WRITE_H
#define RGI_STORE_RECORD_WRITE_H

#include <regroup/balance.h>

#include "walkers/store/buddy.h"
#include "walkers/store/record_index.h"
#include "walkers/team/queue.h"

/* A walker after a unit. */
typedef struct {
  uint64_t record;
  int64_t done;
  double left;
  const void *state; /* packed; NULL: none */
  size_t bytes;
  int64_t met; /* after a meeting: its number + 1 */
} rgi_record_write_walker;

/* After a unit: the walker, and those that the unit has made. */
int rgi_record_write_unit(rgi_buddy *buddy, const rgi_record_write_walker *walker, rgi_queue *born);
/* After a meeting: all n walkers, or after a death none of them. */
int rgi_record_write_meeting(rgi_buddy *buddy, int64_t n, const rgi_record_write_walker walker[]);
/* After a death: completes what a process has begun to write after a meeting. One process of each
 * node calls. */
int rgi_record_write_settle(rgi_record_index *index);
/* The walker of a record has ended: one that a group works on, with the walkers that it has made;
 * or one that waited (born NULL). */
int rgi_record_write_outcome(rgi_buddy *buddy, uint64_t record, const rg_balance_outcome *outcome,
                             rgi_queue *born);

#endif
