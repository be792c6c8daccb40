/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker store: in a job that survives deaths, a record of each walker, in the node's arena,
 * which outlives its processes. A record has the version that the walker had at first, two others,
 * and a number that says which of them is valid. The leader of the walker's group writes one of the
 * two that is not valid after each unit, and then changes the number. A process killed while it
 * writes leaves the valid version as it was.
 *
 * A version says how many walkers the walker's units have made (born). The record of such a child
 * counts if, and only if, the valid version of its parent's record has counted it.
 *
 * Each node has a store, with the walkers that were led there or that others have sent copies of. A
 * record goes from one to another as a packed copy (record_pack.c); of two versions of a walker the
 * one with more units counts. After a death the nodes find out which that is (record_exchange.h).
 */
#ifndef RGI_STORE_STORE_H
#define RGI_STORE_STORE_H

#include "access/lock.h"
#include "walkers/store/record.h"
#include "walkers/team/membership.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

/* In the arena. */
typedef struct {
  rgi_lock lock; /* of a process that takes records in: others of the node may have the same ones */
  int64_t count;
  int64_t lost;          /* outcomes that no node has, as the last gather has found */
  _Atomic uint64_t born; /* the records of walkers that units have made, the last one first */
  rgi_record record[];
} rgi_store_shared;

/* What a process has of it. */
typedef struct {
  const rgi_membership *members;
  rgi_store_shared *shared; /* NULL: the job does not survive, or the store is not open yet */
  uint64_t slot;
  int filled;      /* it has all walkers of this run */
  int lists;       /* of walkers that it has: one for each run */
  int64_t walkers; /* in these lists */
  int dropped;     /* stores before this one */
} rgi_store;

/* Attaches to the store of this node, and sets in the first list the place of each walker's record.
 * Those of later lists are found by rgi_store_read. */
int rgi_store_open(rgi_store *store, rgi_queue *list);
/* Writes the records of `list`, for the run of this number. One process of each node calls. */
int rgi_store_fill(rgi_store *store, const rgi_queue *list, int run);
/* All nodes have written their records. */
void rgi_store_filled(rgi_store *store, const rgi_queue *list);
void rgi_store_close(rgi_store *store);

/* Whether there are processes on other nodes, so that copies are needed. */
int rgi_store_spans_nodes(const rgi_store *store);

/* After rgi_record_exchange_agree: makes `list` the walkers that have not ended on any node, in the
 * same order on all nodes. No group may work meanwhile. */
int rgi_store_read(const rgi_store *store, rgi_queue *list);
/* What the valid version says of a walker; *memory, if there is a state, belongs to the caller. */
int rgi_store_load(const rgi_queue_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory);
/* The number of its last meeting + 1. */
int64_t rgi_store_met(const rgi_queue_entry *entry);
/* Adds the walkers that have ended to a list: all that this node has; or those that ended in a
 * group led by this process and, where this process is their home, in groups led by the dead. */
int rgi_store_outcomes(const rgi_store *store, int all, rgi_outcome_list *list);

/* The record of walker i of the first list, as a place in the arena. */
uint64_t rgi_store_place(const rgi_store *store, int64_t i);
/* Adds a record, a block of the arena with all its fields set, to the list of those that units have
 * made. */
void rgi_store_push(rgi_store *store, uint64_t offset);
/* The record after `offset`, of all of this node; 0 as argument: the first; as result: no more. */
uint64_t rgi_store_next(const rgi_store *store, uint64_t offset);

#endif
