/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Drawn arrays and patches of them. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "fuzz.h"

enum { ARRAYS_BUFFER = 1 << 20, ARRAYS_BUFFER_MOST = 1 << 24 };

typedef struct {
  rg_array_spec info;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], step[RG_ARRAY_MAX_DIMS];
  int64_t ld[RG_ARRAY_MAX_DIMS];
  int with_ld;
  void *buffer; /* large enough for the patch, or NULL */
} arrays_patch;

/* A spec, one in three with members that are wild. Its boundaries last to the end of the case. */
void arrays_draw_spec(rg_array_spec *s);

/* An array on all ranks with zeros, or NULL if none was possible. */
rg_array arrays_draw(rg_group g);

arrays_patch arrays_draw_patch(rg_array a);

#endif
