/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One-sided accesses, and how one piece of an access is moved: by loads and stores if the owner's
 * memory is mapped here, else through the engine. */
#ifndef RGI_ACCESS_PIECE_H
#define RGI_ACCESS_PIECE_H

#include "engine/engine.h"
#include "object/array.h"

/* Operations of the engine that have been started; the list grows as needed. */
typedef struct {
  rgi_engine_handle *at;
  int n, room;
} rgi_access_started;

/* An access to some patch of an array. */
typedef struct {
  const char *call; /* the public function */
  rg_array a;
  rgi_transfer_kind kind;
  char *buf; /* read only but for RGI_TRANSFER_GET */
  const void *alpha;
  const int64_t *step;         /* NULL: every element */
  rgi_access_started *started; /* NULL: wait for each */
} rgi_access;

/* A buffer without its const: whether it is written depends on the kind of access. */
static inline char *rgi_access_buffer(const void *memory) {
  char *at;
  __builtin_memcpy(&at, &memory, sizeof at);
  return at;
}

/* A piece as it is moved: by its owner and strides on both sides, in elements. */
typedef struct {
  int rank;
  int64_t offset; /* of its first element in the owner's memory */
  int64_t extent[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS];
  char *buf;
  int64_t buf_stride[RG_ARRAY_MAX_DIMS];
} rgi_access_piece;

int rgi_access_same_node(const rgi_access *m, const rgi_access_piece *part);
int rgi_access_other_node(const rgi_access *m, const rgi_access_piece *part);

/* For many small pieces of one owner (aggregate.c): a piece as the engine takes it, and n runs in
 * one operation, which start at `offset` in the owner's heap part and at buf. */
rgi_strided rgi_access_strided(const rgi_access *m, const rgi_access_piece *part);
int rgi_access_runs(const rgi_access *m, int rank, uint64_t offset, char *buf, int n,
                    const rgi_strided_run runs[]);

/* Adds to elements of a member in this node's memory: integers by processor
 * atomics, others under the member's lock. One node only. */
int rgi_access_accumulate(const char *call, rg_array a, int rank, int dims, const int64_t extent[],
                          void *to, const int64_t to_ld[], const void *from,
                          const int64_t from_ld[], const void *alpha);

#endif
