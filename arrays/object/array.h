/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The array object: its parts, and what every function on arrays needs of it. */
#ifndef RGI_ARRAY_H
#define RGI_ARRAY_H

#include <regroup/array.h>

#include "access/lock.h"
#include "distribution/distribution.h"
#include "object/shared_block.h"
#include "runtime/runtime.h"

#define RGI_ARRAY_MAGIC 0x61727279u

struct rg_array_s {
  unsigned magic;
  int one_node; /* all members are on the caller's node */
  unsigned long epoch;
  rg_array_type type;
  size_t element; /* bytes */
  unsigned flags; /* the spec's */
  char *name;     /* or NULL */
  /* One node: the memory of member i is at base + starts[i], in the block that all members
   * share. Several nodes: it is in i's heap part (engine/heap.h), base is NULL, and mapped[i]
   * is its address here, or NULL if i is on another node. */
  char *base;
  const uint64_t *starts;
  rgi_lock *locks; /* one node: for accumulates, one for each member */
  /* One node, one dimension, all elements in one member's memory (a shared counter, for
   * instance): the first element; else NULL. */
  char *line;
  /* One node, block extents that differ by one at most: the dimensions, if 1 or 2; else 0. */
  int regular;
  rgi_distribution d;
  int me, members;
  rg_group group; /* its own */
  uint64_t hash;  /* of the spec */
  int confirmed;  /* all members are known to have made it */
  rgi_shared_block shared;
  char **mapped;          /* several nodes: where it is in this process, or NULL */
  uint64_t *heap_offsets; /* several nodes: of each member's memory in its heap part */
  int *world;             /* several nodes: the members' world ranks */
  size_t mine;            /* several nodes: bytes of the caller's memory */
  int *holders;           /* mirrored: the member that has each member's copies (mirror.h) */
  uint64_t *copies;       /* mirrored: where these are, from the start of its pairs */
  uint64_t pairs;         /* mirrored: bytes of the caller's pairs */
  uint64_t replicated;    /* mirrored: how many times the elements have been replicated */
  int replica_failed;     /* mirrored: this failed, and messages may still arrive in the memory */
  struct rgi_replica *replicas; /* mirrored: replicas_n of them (replica.h) */
  int replicas_n;
  rg_array next; /* several nodes: freed by the caller, not by all (array_deferred.c) */
  rg_request free_barrier;
};

/* The name of an array goes to the one that replaces it. Either may be NULL. */
static inline void rgi_array_pass_name(rg_array from, rg_array to) {
  if (!from || !to || to->name)
    return;
  to->name = from->name;
  from->name = NULL;
}

/* RG_ERR_ARRAY unless a is an array that has not been freed, made since the last rg_init. */
int rgi_array_check(const char *call, rg_array a);

/* Whether it is. */
static inline int rgi_array_alive(rg_array a) {
  return a && a->magic == RGI_ARRAY_MAGIC && a->epoch == rgi_runtime.epoch && rgi_runtime.started;
}

/* Whether its elements are replicated (mirror.h): only where it spans nodes. */
static inline int rgi_array_is_mirrored(rg_array a) {
  return (a->flags & RG_ARRAY_MIRRORED) && !a->one_node;
}

/* The start of a member's memory in this process, or NULL: it is on another node. */
static inline char *rgi_array_memory(rg_array a, int rank) {
  return a->one_node ? a->base + a->starts[rank] : a->mapped[rank];
}

/* The start of the caller's own memory, never NULL if it owns elements. */
static inline char *rgi_array_mine(rg_array a) {
  return rgi_array_memory(a, a->me);
}

/* To be called before loads or stores in a member's memory, elements first to first + n - 1:
 * completes what this process has put there by the engine. One node: nothing to do. */
int rgi_array_settle(rg_array a, int rank, int64_t first, int64_t n);

/* Waits, the first time, until all members are known to have made the array. On several nodes
 * they are known to from the start. RG_ERR_MISMATCH, or a member's error. */
int rgi_array_confirm(const char *call, rg_array a);

#endif
