/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker in the store of a node. */
#ifndef RGI_WALKERS_STORE_RECORD_H
#define RGI_WALKERS_STORE_RECORD_H

#include <stdatomic.h>

#include "shm/arena.h"
#include "walkers/queue.h"

typedef struct {
  int64_t done;
  double left, seconds;
  uint64_t state, room; /* a block, and its size; 0: no state yet */
  uint64_t bytes;
  uint64_t text; /* what was wrong: a block of RGI_OUTCOME_TEXT */
  int64_t born;  /* so many walkers its units have made */
  int32_t has, ended, error, rank;
  int32_t leader; /* a rank of the world: who has the outcome */
  int32_t unused;
} rgi_store_record_version;

typedef struct {
  uint64_t key;    /* the same on all nodes; 0: it is none any more */
  uint64_t parent; /* the key of the walker that has made it, or 0; */
  int64_t number;  /* which of those that that one has made */
  int64_t id, least, most;
  double unit;
  uint64_t earlier;     /* the one made before it on this node */
  _Atomic uint64_t now; /* version now % 2 holds */
  rgi_store_record_version version[2];
} rgi_store_record;

static inline rgi_store_record *rgi_store_record_at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static inline rgi_store_record_version *rgi_store_record_current(rgi_store_record *r) {
  return &r->version[atomic_load(&r->now) % 2];
}

/* A walker that has not begun, by what is known of it. */
int rgi_store_record_fill(rgi_store_record *r, const rgi_queue_entry *e, uint64_t key);

/* The version to be written next; it begins as the one that holds, with its own blocks. */
rgi_store_record_version *rgi_store_record_begin(rgi_store_record *r);
int rgi_store_record_set_state(rgi_store_record_version *v, const void *state, size_t bytes);
int rgi_store_record_set_text(rgi_store_record_version *v, const char *text);
/* From now on the other version holds. */
static inline void rgi_store_record_switch(rgi_store_record *r) {
  atomic_fetch_add(&r->now, 1);
}

/* Of two versions of a walker: whether a is further than b. */
static inline int rgi_store_record_newer(const rgi_store_record_version *a,
                                         const rgi_store_record_version *b) {
  return a->ended != b->ended ? a->ended > b->ended : a->done > b->done;
}

#endif
