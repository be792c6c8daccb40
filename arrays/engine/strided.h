/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches as the engine takes them: where the bytes are at the origin and at the target. */
#ifndef RGI_STRIDED_H
#define RGI_STRIDED_H

#include <mpi.h>
#include <regroup/array.h>
#include <stdint.h>

/* A patch in memory, for both sides: dims extents, the innermost in bytes; strides
 * in bytes of the dims - 1 outer dimensions, none negative. Both sides have the same
 * extents. */
typedef struct {
  int dims;
  int64_t extent[RG_ARRAY_MAX_DIMS + 1];
  int64_t origin_stride[RG_ARRAY_MAX_DIMS + 1]; /* of the caller's buffer */
  int64_t target_stride[RG_ARRAY_MAX_DIMS + 1]; /* in the target's heap part */
} rgi_strided;

/* One of several runs of bytes: where it is, from the start of the buffer and of the place at the
 * target. */
typedef struct {
  int64_t origin, target, bytes;
} rgi_strided_run;

/* The same bytes with as few dimensions as possible, at least one; returns how many bytes. */
int64_t rgi_strided_simplify(const rgi_strided *p, rgi_strided *simple);

/* How far a side reaches: from its first byte behind its last. stride: that side's. */
uint64_t rgi_strided_reach(const rgi_strided *p, const int64_t stride[]);
int rgi_strided_is_contiguous(const rgi_strided *p, const int64_t stride[]);

/* One side as an MPI type over elements of `size` bytes: *count of *type; to be
 * freed if it is not `element`. */
int rgi_strided_mpi_type(const rgi_strided *p, const int64_t stride[], MPI_Datatype element,
                         size_t size, int *count, MPI_Datatype *type);

/* The origin side, packed and times alpha. */
void rgi_strided_scale(const rgi_strided *p, const char *from, rg_array_type type,
                       const void *alpha, char *to);

#endif
