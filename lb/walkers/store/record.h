/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker's record in the walker store, and its versions. The first one stays as it is; of the two
 * others one is valid while the next one is written. */
#ifndef RGI_STORE_RECORD_H
#define RGI_STORE_RECORD_H

#include <stdatomic.h>

#include "shm/arena.h"
#include "walkers/team/queue.h"

enum { RGI_RECORD_ABSENT = -1 };

typedef struct {
  int64_t done; /* RGI_RECORD_ABSENT: only other nodes have a version */
  double left, seconds;
  uint64_t state, room; /* a block, and its size; 0: no state yet */
  uint64_t bytes;
  uint64_t text; /* the text of the error: a block of RGI_OUTCOME_TEXT bytes */
  int64_t born;  /* walkers that its units have made so far */
  int64_t met;   /* the number of its last meeting + 1 */
  int32_t has, ended, error, rank;
  int32_t leader; /* rank in the world of the process that has the outcome */
  int32_t run;    /* of the balancer, from 0 */
  double unit;    /* of the outcome, */
  int32_t missed; /* as in it */
} rgi_record_version;

typedef struct {
  uint64_t key;    /* the same on all nodes; 0: the record does not count */
  uint64_t parent; /* the key of the walker that has made it, or 0 */
  int64_t number;  /* its number among the children of that walker */
  int64_t id, least, most;
  double unit;
  uint64_t earlier;     /* the record added before it on this node */
  _Atomic uint64_t now; /* 0: version 0 is valid; else version 1 + now % 2 */
  _Atomic uint64_t
      prepared;     /* now + 1: the next version is what a meeting has made of the walker. */
  uint64_t decides; /* It counts if this walker's valid version, by its key, has met the others */
  rgi_record_version version[3];
  /* Of the newest version on any node, as the nodes have found it after the last death. */
  double left;
  int32_t ended;
  int32_t home; /* the leader of the node where the walker begins, or that has its outcome: a rank;
                   or -1: any */
} rgi_record;

static inline rgi_record *rgi_record_at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static inline rgi_record_version *rgi_record_current(rgi_record *record) {
  uint64_t now = atomic_load(&record->now);
  return &record->version[now ? 1 + now % 2 : 0];
}

/* The version that is written next. */
static inline rgi_record_version *rgi_record_next(rgi_record *record) {
  return &record->version[1 + (atomic_load(&record->now) + 1) % 2];
}

/* Sets all fields for a walker that has not begun in its run. */
int rgi_record_fill(rgi_record *record, const rgi_queue_entry *entry, uint64_t key, int run);

/* The version to be written next: a copy of the valid one, but with its own blocks, and no state
 * yet. */
rgi_record_version *rgi_record_begin(rgi_record *record);
int rgi_record_set_state(rgi_record_version *version, const void *state, size_t bytes);
int rgi_record_set_text(rgi_record_version *version, const char *text);
/* The version that was written becomes the valid one. */
void rgi_record_switch(rgi_record *record);

/* The first version becomes the valid one again. */
static inline void rgi_record_revert(rgi_record *record) {
  atomic_store(&record->now, 0);
}

/* Of two versions of a walker: whether a is further than b. */
static inline int rgi_record_newer(const rgi_record_version *a, const rgi_record_version *b) {
  if (a->ended != b->ended)
    return a->ended > b->ended;
  return a->done != b->done ? a->done > b->done : a->met > b->met;
}

#endif
