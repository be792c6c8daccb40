/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches: in Global Arrays hi is the last index, in the library the one behind it. */
#ifndef RGI_GA_PATCH_H
#define RGI_GA_PATCH_H

#include <regroup/array_math.h>

#include "ga/ga_handle.h"

typedef struct {
  rg_array array;
  int64_t end[RG_ARRAY_MAX_DIMS];
} rgi_ga_patch;

static inline rgi_ga_patch rgi_ga_patch_of(const char *call, int g, const int64_t hi[]) {
  rgi_ga_patch patch;
  patch.array = rgi_ga_handle_array(call, g);
  const int dims = rgi_ga_handle_dims(g);
  for (int d = 0; d < dims; d++)
    patch.end[d] = hi[d] + 1;
  return patch;
}

#define RGI_GA_PATCH(g, hi) rgi_ga_patch_of(__func__, g, hi)

static inline int rgi_ga_patch_is_transposed(char form) {
  return form == 't' || form == 'T';
}

/* --- copies (ga_copy.c); g: the array that an error names ------------------------------------- */

/* The extents of a patch; returns its dimensions. */
int rgi_ga_patch_extents(const char *call, int g, rg_array_patch p, int64_t n[]);

/* A new array on the group, of the patch's type and extents. */
rg_array rgi_ga_patch_array(const char *call, int g, rg_array_patch like, rg_group group);

/* b = a on the same processes: b has the elements in C order that a has so, or, transposed, that a
 * with its dimensions in reverse order has so. */
void rgi_ga_patch_copy(const char *call, int g, rg_array_patch a, rg_array_patch b, int transposed);

#endif
