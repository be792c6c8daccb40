/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a patch between a buffer and an array: cut by owners, and each piece by
 * loads and stores or through the engine. */
#ifndef RGI_ACCESS_H
#define RGI_ACCESS_H

#include "engine/engine.h"
#include "object/array.h"

typedef enum { RGI_ACCESS_PUT, RGI_ACCESS_GET, RGI_ACCESS_ACC } rgi_access_kind;

/* Operations of the engine that have been started: grows as needed. */
typedef struct {
  rgi_engine_handle *at;
  int n, room;
} rgi_access_started;

typedef struct {
  const char *call; /* the public function */
  rg_array a;
  rgi_access_kind kind;
  char *buf; /* read only but for RGI_ACCESS_GET */
  const void *alpha;
  const int64_t *step;         /* NULL: every element */
  rgi_access_started *started; /* NULL: wait for each */
} rgi_access;

/* Buffers are const or not by the kind of access. */
static inline char *rgi_access_buffer(const void *memory) {
  char *at;
  __builtin_memcpy(&at, &memory, sizeof at);
  return at;
}

/* Checks all that a caller gives, then moves. lo..hi is inside the array; the buffer
 * holds the elements lo, lo + step, ... of each dimension. */
int rgi_access_patch(const rgi_access *m, const int64_t lo[], const int64_t hi[],
                     const int64_t ld[]);

/* The checks: arithmetic on the type; the buffer's extents for a patch of these. */
int rgi_access_check(const rgi_access *m);
int rgi_access_check_buffer(const rgi_access *m, const int64_t extent[], const int64_t ld[]);

/* The same without checks. strides: of the buffer, in elements, in each dimension. */
int rgi_access_pieces(const rgi_access *m, const int64_t lo[], const int64_t hi[],
                      const int64_t stride[]);

/* The strides of memory with these extents (ld NULL: dense with extent). */
void rgi_access_strides(int dims, const int64_t extent[], const int64_t ld[], int64_t stride[]);

/* A piece as it is moved: by its owner and strides on both sides, in elements. */
typedef struct {
  int rank;
  int64_t offset; /* of its first element in the owner's memory */
  int64_t extent[RG_MAX_DIMS], stride[RG_MAX_DIMS];
  char *buf;
  int64_t buf_stride[RG_MAX_DIMS];
} rgi_access_piece;

int rgi_access_same_node(const rgi_access *m, const rgi_access_piece *part);
int rgi_access_other_node(const rgi_access *m, const rgi_access_piece *part);

/* The same for many small ones of one owner (aggregate.c): the part as the engine takes it;
 * runs from `offset` in its share and from buf. */
rgi_strided rgi_access_strided(const rgi_access *m, const rgi_access_piece *part);
int rgi_access_runs(const rgi_access *m, int rank, uint64_t offset, char *buf, int n,
                    const rgi_strided_run runs[]);

/* Parts of an array that spans nodes, which are collected by their owners: small ones
 * are moved when there are enough of them, or at the end. */
typedef struct rgi_aggregate rgi_aggregate;
int rgi_aggregate_open(const rgi_access *m, rgi_aggregate **aggregate);
int rgi_aggregate_add(rgi_aggregate *aggregate, const rgi_access_piece *part);
/* error: what has happened so far; then nothing more is moved. */
int rgi_aggregate_close(rgi_aggregate *aggregate, int error);

/* Adds to elements of a member in this node's memory: integers by processor
 * atomics, others under the member's lock. One node only. */
int rgi_access_accumulate(const char *call, rg_array a, int rank, int dims, const int64_t extent[],
                          void *to, const int64_t to_ld[], const void *from,
                          const int64_t from_ld[], const void *alpha);

#endif
