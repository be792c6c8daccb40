/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <string.h>

#include "access/patch.h"
#include "access/patch_plan.h"

/* Inlined into copy_plane for each size: copying a constant number of bytes is a load and a
 * store. */
static inline __attribute__((always_inline)) void copy_rows(int64_t rows, size_t bytes, char *to,
                                                            int64_t to_step, const char *from,
                                                            int64_t from_step) {
  for (int64_t i = 0; i < rows; i++)
    memcpy(to + i * to_step, from + i * from_step, bytes);
}

/* Rows of one element of a usual type: a column of a matrix. */
static void copy_plane(int64_t rows, size_t bytes, char *to, int64_t to_step, const char *from,
                       int64_t from_step) {
  if (bytes == 4)
    copy_rows(rows, 4, to, to_step, from, from_step);
  else if (bytes == 8)
    copy_rows(rows, 8, to, to_step, from, from_step);
  else if (bytes == 16)
    copy_rows(rows, 16, to, to_step, from, from_step);
  else
    copy_rows(rows, bytes, to, to_step, from, from_step);
}

void rgi_patch_copy(int dims, const int64_t extent[], size_t element, void *to,
                    const int64_t to_ld[], const void *from, const int64_t from_ld[]) {
  int64_t at[RG_ARRAY_MAX_DIMS + 1] = {0}, a = 0, b = 0, size = (int64_t)element;
  rgi_patch_plan p;
  if (!rgi_patch_plan_make(&p, dims, extent, to_ld, from_ld))
    return;
  do
    copy_plane(p.extent[1], (size_t)p.extent[0] * element, (char *)to + a * size, p.a[1] * size,
               (const char *)from + b * size, p.b[1] * size);
  while (rgi_patch_plan_step(&p, at, &a, &b));
}
