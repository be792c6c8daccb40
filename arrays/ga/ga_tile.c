/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tiles of equal extents, and of given ones. */
#include "ga/ga_tile.h"

#include <stdlib.h>
#include <string.h>

#include "ga/ga_handle.h"

int64_t rgi_ga_tile_count(const rgi_ga_handle *handle) {
  int64_t count = 1;
  for (int d = 0; d < handle->dims; d++)
    count *= handle->tiles[d];
  return count;
}

int rgi_ga_tile_place(const rgi_ga_handle *handle, int64_t number, int64_t place[]) {
  if (number < 0 || number >= rgi_ga_tile_count(handle))
    return 0;
  for (int d = handle->dims - 1; d >= 0; d--) {
    place[d] = number % handle->tiles[d];
    number /= handle->tiles[d];
  }
  return 1;
}

/* Where dimension d's tile i begins; of the one behind the last the extent. */
static int64_t start_of(const rgi_ga_handle *handle, int d, int64_t i) {
  if (i >= handle->tiles[d])
    return handle->shape[d];
  return handle->starts[d] ? handle->starts[d][i] : i * handle->tile[d];
}

int rgi_ga_tile_patch(const rgi_ga_handle *handle, const int64_t place[], int64_t lo[],
                      int64_t hi[]) {
  for (int d = 0; d < handle->dims; d++)
    if (place[d] < 0 || place[d] >= handle->tiles[d])
      return 0;
  for (int d = 0; d < handle->dims; d++) {
    lo[d] = start_of(handle, d, place[d]);
    hi[d] = start_of(handle, d, place[d] + 1);
  }
  return 1;
}

int64_t rgi_ga_tile_of(const rgi_ga_handle *handle, const int64_t at[]) {
  int64_t number = 0;
  for (int d = 0; d < handle->dims; d++) {
    int64_t i = handle->starts[d] ? 0 : at[d] / handle->tile[d];
    while (start_of(handle, d, i + 1) <= at[d])
      i++;
    number = number * handle->tiles[d] + i;
  }
  return number;
}

/* The library's boundaries: each process of the grid has a run of tiles. */
static void divide_runs(const char *call, int g, rgi_ga_handle *handle, int d, int64_t *runs) {
  rg_array_spec *spec = &handle->plan->spec;
  int64_t grid = handle->plan->grid[d];
  if (grid < 1 || grid > handle->tiles[d])
    rgi_ga_error_end(call, g, "dimension %d has %lld tiles, but proc_grid is %lld", d,
                     (long long)handle->tiles[d], (long long)grid);
  for (int64_t i = 0; i < grid; i++)
    runs[i] = handle->starts[d][i * handle->tiles[d] / grid];
  spec->boundaries[d] = runs;
  spec->grid[d] = (int)grid;
}

static void set_irregular(const char *call, int g, rgi_ga_handle *handle) {
  rg_array_spec *spec = &handle->plan->spec;
  int64_t n = 0, *runs;
  for (int d = 0; d < handle->dims; d++)
    n += spec->grid[d];
  handle->map = malloc((size_t)n * sizeof *handle->map);
  runs = realloc(handle->plan->runs, (size_t)n * sizeof *runs);
  if (!handle->map || !runs)
    rgi_ga_error_end(call, g, "no memory for the tiles' boundaries");
  handle->plan->runs = runs;
  memcpy(handle->map, handle->plan->map, (size_t)n * sizeof *handle->map);
  for (int d = 0, before = 0; d < handle->dims; d++) {
    handle->tiles[d] = spec->grid[d];
    handle->starts[d] = handle->map + before;
    before += (int)handle->tiles[d];
  }
  for (int d = 0; d < handle->dims; runs += handle->plan->grid[d++])
    divide_runs(call, g, handle, d, runs);
}

void rgi_ga_tile_set(const char *call, int g, rgi_ga_handle *handle) {
  const rg_array_spec *spec = &handle->plan->spec;
  memcpy(handle->shape, spec->shape, sizeof handle->shape);
  if (handle->plan->irregular_tiles) {
    set_irregular(call, g, handle);
  } else if (spec->layout == RG_LAYOUT_BLOCK_CYCLIC || spec->layout == RG_LAYOUT_SCALAPACK) {
    for (int d = 0; d < handle->dims; d++) {
      int64_t tile = spec->chunk[d];
      if (tile < 1)
        rgi_ga_error_end(call, g, "the extent of blocks in dimension %d is %lld", d,
                         (long long)tile);
      handle->tile[d] = tile;
      handle->tiles[d] = spec->shape[d] / tile + (spec->shape[d] % tile != 0);
    }
  }
}
