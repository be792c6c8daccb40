/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays: specs, patches, steps, leading dimensions and indices that are valid, or just outside, or
 * overflow. */
#include "arrays.h"

#include <mpi.h>
#include <string.h>

#include "draw.h"
#include "tests/check/check.h"

/* --- specs ----------------------------------------------------------------------- */

static void draw_wild_member(rg_array_spec *spec) {
  int d = draw_below(RG_ARRAY_MAX_DIMS);
  switch (draw_below(9)) {
  case 0:
    spec->dims = draw_int();
    break;
  case 1:
    spec->shape[d] = draw_int64();
    break;
  case 2:
    spec->type = (rg_array_type)draw_int();
    break;
  case 3:
    spec->element_size = (size_t)draw_int64();
    break;
  case 4:
    spec->layout = (rg_array_layout)draw_int();
    break;
  case 5:
    spec->grid[d] = draw_int();
    break;
  case 6:
    spec->chunk[d] = draw_int64();
    break;
  case 7:
    spec->ghosts[d] = draw_int64();
    break;
  default:
    spec->flags = (unsigned)draw_int();
  }
}

void arrays_draw_spec(rg_array_spec *spec) {
  int64_t *boundaries = fuzz_in(RG_ARRAY_MAX_DIMS * 8 * sizeof *boundaries);
  *spec = (rg_array_spec){.size = sizeof *spec, .dims = 1 + draw_below(draw_chance(4) ? 7 : 3)};
  spec->type = (rg_array_type)draw_below(RG_TYPE_COUNT);
  spec->element_size = spec->type == RG_TYPE_OPAQUE ? 1 + (size_t)draw_below(40) : 0;
  spec->layout = (rg_array_layout)draw_below(4);
  int left = rgt_size;
  for (int d = 0; d < spec->dims; d++) {
    spec->shape[d] = draw_below(spec->dims > 4 ? 4 : 9);
    spec->ghosts[d] = spec->layout < RG_LAYOUT_BLOCK_CYCLIC && draw_chance(4) ? draw_below(3) : 0;
    spec->periodic[d] = draw_below(2);
    spec->chunk[d] = spec->layout >= RG_LAYOUT_BLOCK_CYCLIC ? 1 + draw_below(4) : draw_below(3) - 1;
    if (spec->layout != RG_LAYOUT_IRREGULAR)
      continue;
    spec->grid[d] = 1 + draw_below(left);
    left /= spec->grid[d];
    spec->boundaries[d] = boundaries + 8 * d;
    for (int i = 0; i < 8; i++)
      boundaries[8 * d + i] = i == 0 ? 0 : spec->shape[d] * i / 8;
    if (draw_chance(16))
      boundaries[8 * d + draw_below(8)] = draw_int64();
  }
  for (int changes = draw_chance(3) ? 1 + draw_below(3) : 0; changes > 0; changes--)
    draw_wild_member(spec);
}

rg_array arrays_draw(rg_group g) {
  rg_array_spec s;
  rg_array *a = fuzz_out_some(sizeof *a);
  arrays_draw_spec(&s);
  /* What fits into 64 bits may be more than the machine has: a few MiB are enough. */
  if (s.layout == RG_LAYOUT_IRREGULAR)
    for (int d = 0; d < s.dims && d < RG_ARRAY_MAX_DIMS; d++)
      s.grid[d] = s.grid[d] > 8 ? 8 : s.grid[d];
  return FUZZ(rg_array_create(g, &s, a)) ? NULL : *a;
}

/* --- patches ---------------------------------------------------------------------- */

static int64_t draw_extent(int64_t extent) {
  return draw_chance(16)              ? draw_int64()
         : extent > 0 && extent < 100 ? draw_below((int)extent + 1)
                                      : 0;
}

/* Room for the patch with rows that are an element longer, and for some single elements; NULL where
 * that is much: elements of any size may have been drawn. */
static void *draw_buffer(const arrays_patch *patch) {
  double elements = 1;
  for (int d = 0; d < patch->info.dims; d++)
    elements *= patch->hi[d] > patch->lo[d] ? (double)patch->hi[d] - (double)patch->lo[d] + 1 : 1;
  double bytes = (double)patch->info.element_size * (elements > 16 ? elements : 16);
  if (draw_chance(24) || bytes > ARRAYS_BUFFER_MOST)
    return NULL;
  return fuzz_in(bytes > ARRAYS_BUFFER ? (size_t)bytes : ARRAYS_BUFFER);
}

arrays_patch arrays_draw_patch(rg_array a) {
  arrays_patch p = {.info = {.size = sizeof p.info}};
  FUZZ(rg_array_info(a, &p.info));
  for (int d = 0; d < p.info.dims; d++) {
    p.lo[d] = draw_extent(p.info.shape[d]);
    p.hi[d] = draw_extent(p.info.shape[d]);
    if (p.lo[d] > p.hi[d] && !draw_chance(24)) {
      int64_t lo = p.hi[d];
      p.hi[d] = p.lo[d];
      p.lo[d] = lo;
    }
    p.step[d] = draw_chance(8) ? draw_int64() : 1 + draw_below(4);
  }
  for (int d = 0; d + 1 < p.info.dims; d++) {
    int64_t extent = (int64_t)((uint64_t)p.hi[d + 1] - (uint64_t)p.lo[d + 1]);
    int wild = draw_chance(12);
    p.ld[d] = wild           ? (draw_chance(2) ? INT64_MAX - draw_below(3) : draw_below(3) - 2)
              : extent < 100 ? extent + draw_below(2)
                             : extent;
  }
  p.with_ld = draw_chance(2);
  p.buffer = draw_buffer(&p);
  return p;
}
