/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "draw_spec.h"

#include <stdlib.h>
#include <string.h>

int64_t rgt_below(int64_t n) {
  return random() % n;
}

void rgt_draw_shape(rgt_drawn *drawn) {
  static const int longest[] = {0, 600, 40, 14, 8, 6, 4, 4};
  int64_t shape[RG_ARRAY_MAX_DIMS];
  int dims = 1 + (int)rgt_below(RG_ARRAY_MAX_DIMS);
  rg_array_type type = (rg_array_type)rgt_below(RG_TYPE_COUNT);
  for (int k = 0; k < dims; k++)
    shape[k] = (rgt_below(40) != 0) * (1 + rgt_below(longest[dims]));
  drawn->spec.size = sizeof drawn->spec;
  rg_array_spec_set(&drawn->spec, type, dims, shape);
  drawn->spec.element_size = type == RG_TYPE_OPAQUE ? 1 + (size_t)rgt_below(24) : 0;
}

static void draw_grid(rg_array_spec *spec, int members) {
  for (int k = 0; k < spec->dims; k++) {
    spec->grid[k] = 1 + (int)rgt_below(members);
    members /= spec->grid[k];
  }
}

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void draw_boundaries(rgt_drawn *drawn, int k) {
  drawn->boundaries[k][0] = 0;
  for (int i = 1; i < drawn->spec.grid[k]; i++)
    drawn->boundaries[k][i] = rgt_below(drawn->spec.shape[k] + 1);
  qsort(drawn->boundaries[k], (size_t)drawn->spec.grid[k], sizeof(int64_t), compare);
  drawn->spec.boundaries[k] = drawn->boundaries[k];
}

void rgt_draw_layout(rgt_drawn *drawn, int members) {
  rg_array_spec *spec = &drawn->spec;
  spec->layout = (rg_array_layout)rgt_below(4);
  memset(spec->grid, 0, sizeof spec->grid);
  memset(spec->chunk, 0, sizeof spec->chunk);
  memset(spec->ghosts, 0, sizeof spec->ghosts);
  if (spec->layout == RG_LAYOUT_IRREGULAR || rgt_below(2))
    draw_grid(spec, members);
  for (int k = 0; k < spec->dims; k++) {
    if (spec->layout == RG_LAYOUT_IRREGULAR)
      draw_boundaries(drawn, k);
    if (spec->layout >= RG_LAYOUT_BLOCK_CYCLIC)
      spec->chunk[k] = 1 + rgt_below(rgt_below(2) ? 3 : 20);
    else
      spec->ghosts[k] = rgt_below(2) * rgt_below(4);
    if (spec->layout == RG_LAYOUT_BLOCK && spec->grid[k] == 0)
      spec->chunk[k] = rgt_below(5) - 1;
  }
}
