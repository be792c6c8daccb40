/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How to walk through a patch in two memories at once: dimensions that are contiguous in both are
 * joined, those of extent 1 are left out. What remains is a set of planes, each of rows of
 * contiguous elements. */
#ifndef RGI_PATCH_PLAN_H
#define RGI_PATCH_PLAN_H

#include <regroup/array.h>

/* Level 0 is the run of elements within a row, level 1 the rows of a plane, the
 * others lead from plane to plane. a, b: the strides in both memories, in elements. */
typedef struct {
  int levels; /* at least 2 */
  int64_t extent[RG_ARRAY_MAX_DIMS + 1], a[RG_ARRAY_MAX_DIMS + 1], b[RG_ARRAY_MAX_DIMS + 1];
} rgi_patch_plan;

/* Returns 0 if the patch is empty. */
static inline int rgi_patch_plan_make(rgi_patch_plan *p, int dims, const int64_t extent[],
                                      const int64_t ld_a[], const int64_t ld_b[]) {
  int64_t a = 1, b = 1;
  int top = 0;
  p->extent[0] = extent[dims - 1];
  p->a[0] = p->b[0] = 1;
  int64_t some = p->extent[0];
  for (int k = dims - 2; k >= 0; k--) {
    a *= ld_a ? ld_a[k] : extent[k + 1];
    b *= ld_b ? ld_b[k] : extent[k + 1];
    some *= extent[k] != 0;
    if (extent[k] == 1)
      continue;
    if (a == p->extent[top] * p->a[top] && b == p->extent[top] * p->b[top]) {
      p->extent[top] *= extent[k];
      continue;
    }
    top++;
    p->extent[top] = extent[k];
    p->a[top] = a;
    p->b[top] = b;
  }
  if (top == 0) {
    top = 1;
    p->extent[1] = 1;
    p->a[1] = p->b[1] = 0;
  }
  p->levels = top + 1;
  return some != 0;
}

/* Moves a and b, the offsets in both memories, and `at`, the plane's coordinates, to the next
 * plane. All start at 0. Returns 0 if there is no next plane. */
static inline int rgi_patch_plan_step(const rgi_patch_plan *p, int64_t at[], int64_t *a,
                                      int64_t *b) {
  for (int k = 2; k < p->levels; k++) {
    *a += p->a[k];
    *b += p->b[k];
    if (++at[k] < p->extent[k])
      return 1;
    *a -= p->a[k] * p->extent[k];
    *b -= p->b[k] * p->extent[k];
    at[k] = 0;
  }
  return 0;
}

#endif
