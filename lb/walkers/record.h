/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker in the vault of a node. */
#ifndef RGI_WALKERS_RECORD_H
#define RGI_WALKERS_RECORD_H

#include <stdatomic.h>

#include "shm/arena.h"
#include "walkers/balancer.h"

typedef struct {
  int64_t done;
  double left, seconds;
  uint64_t state, room; /* a block, and its size; 0: no state yet */
  uint64_t bytes;
  uint64_t text; /* what was wrong: a block of RGI_TEXT */
  int64_t born;  /* so many walkers its units have made */
  int32_t has, ended, error, rank;
  int32_t leader; /* a rank of the world: who has the outcome */
  int32_t unused;
} rgi_version;

typedef struct {
  uint64_t key;    /* the same on all nodes; 0: it is none any more */
  uint64_t mother; /* the key of the walker that has made it, or 0; */
  int64_t number;  /* which of those that that one has made */
  int64_t id, least, most;
  double unit;
  uint64_t earlier;     /* the one made before it on this node */
  _Atomic uint64_t now; /* version now % 2 holds */
  rgi_version version[2];
} rgi_record;

struct rgi_vault {
  int64_t count;
  _Atomic uint64_t born; /* those that were made, the last one first */
  rgi_record record[];
};

static inline rgi_record *rgi_record_at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static inline rgi_version *rgi_record_current(rgi_record *r) {
  return &r->version[atomic_load(&r->now) % 2];
}

/* The version to be written next; it begins as the one that holds, with its own blocks. */
rgi_version *rgi_record_begin(rgi_record *r);
int rgi_record_set_state(rgi_version *v, const void *state, size_t bytes);
int rgi_record_set_text(rgi_version *v, const char *text);
/* From now on the other version holds. */
static inline void rgi_record_switch(rgi_record *r) {
  atomic_fetch_add(&r->now, 1);
}

/* Of two versions of a walker: whether a is further than b. */
static inline int rgi_version_newer(const rgi_version *a, const rgi_version *b) {
  return a->ended != b->ended ? a->ended > b->ended : a->done > b->done;
}

/* The place of walker i of the list at first. */
uint64_t rgi_vault_place(const struct rg_balancer_s *b, int64_t i);
/* The record of a key, or 0. */
int rgi_vault_find(rg_balancer b, uint64_t key, uint64_t *offset);
/* Adds a record (a block of the arena, filled) to those that were made. */
void rgi_vault_push(rg_balancer b, uint64_t offset);
/* All records of this node, one after another: from 0 on until 0. */
uint64_t rgi_vault_next(rg_balancer b, uint64_t offset);
/* What was found is forgotten. */
void rgi_vault_forget(rg_balancer b);

#endif
