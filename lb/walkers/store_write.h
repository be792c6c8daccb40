/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the leader of a walker's group writes into the walker store. */
#ifndef RGI_WALKERS_STORE_WRITE_H
#define RGI_WALKERS_STORE_WRITE_H

#include <regroup/balance.h>

#include "walkers/buddy.h"
#include "walkers/queue.h"

/* A walker after a unit. */
typedef struct {
  uint64_t record;
  int64_t done;
  double left;
  const void *state; /* packed; NULL: none */
  size_t bytes;
} rgi_store_write_walker;

/* After a unit: the walker, and those that the unit has made. */
int rgi_store_write_unit(rgi_buddy *k, const rgi_store_write_walker *w, rgi_queue *born);
/* The walker of a record has ended: one that a group works on, with the walkers that it has made;
 * or one that waited (born NULL). */
int rgi_store_write_outcome(rgi_buddy *k, uint64_t record, const rg_balance_outcome *o,
                            rgi_queue *born);

#endif
