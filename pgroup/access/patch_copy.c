/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying: planes of two dimensions, whose rows are copied by loops for short lengths. */

#include "access/patch.h"
#include "base/copy.h"

/* Rows of a plane: how many, how long each is, and how far apart they are on both sides. */
typedef struct {
  int64_t n, to_step, from_step;
  size_t bytes;
} plane_rows;

/* Inlined into copy_plane for each size: copying a constant number of bytes is a load and a
 * store. */
static inline __attribute__((always_inline)) void copy_rows(const plane_rows *rows, size_t bytes,
                                                            char *to, const char *from) {
  int64_t n = rows->n, to_step = rows->to_step, from_step = rows->from_step;
  for (int64_t i = 0; i < n; i++)
    rgi_copy_block(to + i * to_step, from + i * from_step, bytes);
}

/* Rows of one element of a usual type: a column of a matrix. */
static void copy_plane(const plane_rows *rows, char *to, const char *from) {
  if (rows->bytes == 4)
    copy_rows(rows, 4, to, from);
  else if (rows->bytes == 8)
    copy_rows(rows, 8, to, from);
  else if (rows->bytes == 16)
    copy_rows(rows, 16, to, from);
  else
    copy_rows(rows, rows->bytes, to, from);
}

void rgi_patch_put(const rgi_strided *strided, void *target, const void *origin) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, from = 0, to = 0;
  if (strided->dims == 1) {
    rgi_copy_block(target, origin, (size_t)strided->extent[0]);
    return;
  }
  plane_rows rows = {.n = strided->extent[1],
                     .to_step = strided->target_stride[1],
                     .from_step = strided->origin_stride[1],
                     .bytes = (size_t)strided->extent[0]};
  do
    copy_plane(&rows, (char *)target + to, (const char *)origin + from);
  while (rgi_strided_step(strided, at, &from, &to));
}

void rgi_patch_get(const rgi_strided *strided, const void *target, void *origin) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, from = 0, to = 0;
  if (strided->dims == 1) {
    rgi_copy_block(origin, target, (size_t)strided->extent[0]);
    return;
  }
  plane_rows rows = {.n = strided->extent[1],
                     .to_step = strided->origin_stride[1],
                     .from_step = strided->target_stride[1],
                     .bytes = (size_t)strided->extent[0]};
  do
    copy_plane(&rows, (char *)origin + to, (const char *)target + from);
  while (rgi_strided_step(strided, at, &to, &from));
}
