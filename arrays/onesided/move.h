/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a patch between a buffer and an array: cut by owners, and each piece by
 * loads and stores or through the engine. */
#ifndef RGI_MOVE_H
#define RGI_MOVE_H

#include "engine/engine.h"
#include "object/array.h"

typedef enum { RGI_PUT, RGI_GET, RGI_ACC } rgi_way;

/* Operations of the engine that have been started: grows as needed. */
typedef struct {
  rgi_engine_handle *at;
  int n, room;
} rgi_started;

typedef struct {
  const char *call; /* the public function */
  rg_array a;
  rgi_way way;
  char *buf; /* read only but for RGI_GET */
  const void *alpha;
  const int64_t *step;  /* NULL: every element */
  rgi_started *started; /* NULL: wait for each */
} rgi_move;

/* Buffers are const or not by their way: the moves know. */
static inline char *rgi_plain(const void *memory) {
  char *at;
  __builtin_memcpy(&at, &memory, sizeof at);
  return at;
}

/* Checks all that a caller gives, then moves. lo..hi is inside the array; the buffer
 * holds the elements lo, lo + step, ... of each dimension. */
int rgi_move_patch(const rgi_move *m, const int64_t lo[], const int64_t hi[], const int64_t ld[]);

/* The checks: arithmetic on the type; the buffer's extents for a patch of these. */
int rgi_move_check(const rgi_move *m);
int rgi_move_check_buffer(const rgi_move *m, const int64_t extent[], const int64_t ld[]);

/* The same without checks. strides: of the buffer, in elements, in each dimension. */
int rgi_move_pieces(const rgi_move *m, const int64_t lo[], const int64_t hi[],
                    const int64_t stride[]);

/* The strides of memory with these extents (ld NULL: dense with extent). */
void rgi_strides(int dims, const int64_t extent[], const int64_t ld[], int64_t stride[]);

/* A piece as it is moved: by its owner and strides on both sides, in elements. */
typedef struct {
  int rank;
  int64_t offset; /* of its first element in the owner's memory */
  int64_t extent[RG_MAX_DIMS], stride[RG_MAX_DIMS];
  char *buf;
  int64_t buf_stride[RG_MAX_DIMS];
} rgi_part;

int rgi_move_near(const rgi_move *m, const rgi_part *part);
int rgi_move_far(const rgi_move *m, const rgi_part *part);

/* The same for many small ones of one owner (join.c): the part as the engine takes it;
 * runs from `offset` in its share and from buf. */
rgi_far_patch rgi_move_far_patch(const rgi_move *m, const rgi_part *part);
int rgi_move_far_runs(const rgi_move *m, int rank, uint64_t offset, char *buf, int n,
                      const rgi_far_run runs[]);

/* Parts of an array that spans nodes, which are collected by their owners: small ones
 * are moved when there are enough of them, or at the end. */
typedef struct rgi_joint rgi_joint;
int rgi_joint_open(const rgi_move *m, rgi_joint **joint);
int rgi_joint_add(rgi_joint *joint, const rgi_part *part);
/* error: what has happened so far; then nothing more is moved. */
int rgi_joint_close(rgi_joint *joint, int error);

/* Adds to elements of a member in this node's memory: integers by processor
 * atomics, others under the member's lock. One node only. */
int rgi_accumulate(const char *call, rg_array a, int rank, int dims, const int64_t extent[],
                   void *to, const int64_t to_ld[], const void *from, const int64_t from_ld[],
                   const void *alpha);

#endif
