/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A patch in two memories at once: that of the origin, the caller's buffer, and that of the
 * target. Dimensions that are contiguous in both are joined when a patch is made. So a patch of
 * whole rows is one run of bytes. */
#ifndef RGI_STRIDED_H
#define RGI_STRIDED_H

#include <regroup/array.h>

#define RGI_STRIDED_DIMS (RG_ARRAY_MAX_DIMS + 1)

/* Dimension 0 is the innermost one, a run of bytes, and its strides are 1. The strides of the
 * others are in bytes, none negative. */
typedef struct {
  int dims; /* at least 1 */
  int64_t extent[RGI_STRIDED_DIMS];
  int64_t origin_stride[RGI_STRIDED_DIMS], target_stride[RGI_STRIDED_DIMS];
} rgi_strided;

/* One of several runs of bytes: where it is, from the start of the buffer and of the place at the
 * target. */
typedef struct {
  int64_t origin, target, bytes;
} rgi_strided_run;

/* Adds a dimension to a patch: the first one, with dims = 0 and strides 1, is the run of bytes, the
 * next ones go around it. The strides do not matter where n is 1. */
static inline void rgi_strided_add(rgi_strided *strided, int64_t n, int64_t origin_stride,
                                   int64_t target_stride) {
  int top = strided->dims - 1;
  if (top >= 0 && n == 1)
    return;
  if (top >= 0 && origin_stride == strided->extent[top] * strided->origin_stride[top] &&
      target_stride == strided->extent[top] * strided->target_stride[top]) {
    strided->extent[top] *= n;
    return;
  }
  strided->extent[++top] = n;
  strided->origin_stride[top] = origin_stride;
  strided->target_stride[top] = target_stride;
  strided->dims++;
}

/* A run of bytes. */
static inline rgi_strided rgi_strided_flat(int64_t bytes) {
  rgi_strided strided;
  strided.dims = 0;
  rgi_strided_add(&strided, bytes, 1, 1);
  return strided;
}

/* A patch with these extents, in elements of so many bytes, in two memories whose extents but the
 * first are the lds (NULL: the patch's own). An empty patch is a run of 0 bytes. */
static inline rgi_strided rgi_strided_make(int dims, const int64_t extent[], size_t element,
                                           const int64_t origin_ld[], const int64_t target_ld[]) {
  uint64_t origin = element, target = element; /* those of an empty patch may overflow */
  rgi_strided strided = rgi_strided_flat((int64_t)element);
  for (int k = dims - 1; k >= 0; k--) {
    if (extent[k] == 0)
      return rgi_strided_flat(0);
    rgi_strided_add(&strided, extent[k], (int64_t)origin, (int64_t)target);
    if (k > 0) {
      origin *= (uint64_t)(origin_ld ? origin_ld[k - 1] : extent[k]);
      target *= (uint64_t)(target_ld ? target_ld[k - 1] : extent[k]);
    }
  }
  return strided;
}

static inline int64_t rgi_strided_bytes(const rgi_strided *strided) {
  int64_t bytes = 1;
  for (int k = 0; k < strided->dims; k++)
    bytes *= strided->extent[k];
  return bytes;
}

/* How far a side reaches: from its first byte behind its last. stride: that side's. */
static inline uint64_t rgi_strided_reach(const rgi_strided *strided, const int64_t stride[]) {
  int64_t reach = strided->extent[0];
  for (int k = 1; k < strided->dims; k++)
    reach += (strided->extent[k] - 1) * stride[k];
  return (uint64_t)reach;
}

/* From plane to plane: dimensions 0 and 1 are a plane. Moves `at`, the plane's coordinates, and its
 * offsets on both sides to the next plane. All start at 0. Returns 0 if there is no next plane. */
static inline int rgi_strided_step(const rgi_strided *strided, int64_t at[], int64_t *origin,
                                   int64_t *target) {
  for (int k = 2; k < strided->dims; k++) {
    *origin += strided->origin_stride[k];
    *target += strided->target_stride[k];
    if (++at[k] < strided->extent[k])
      return 1;
    *origin -= strided->origin_stride[k] * strided->extent[k];
    *target -= strided->target_stride[k] * strided->extent[k];
    at[k] = 0;
  }
  return 0;
}

#endif
