/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * From the caller's spec to a distribution: the grid is chosen, the blocks' boundaries and the
 * reciprocals by which an index finds its block are computed, and the size is checked. */
#include "distribution/distribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "distribution/type.h"

static int64_t largest_extent(const rgi_distribution *layout, int k) {
  if (!layout->boundaries[k])
    return layout->chunk[k] < layout->shape[k] ? layout->chunk[k] : layout->shape[k];
  int64_t extent = 0;
  for (int i = 0; i < layout->grid[k]; i++) {
    int64_t e = layout->boundaries[k][i + 1] - layout->boundaries[k][i];
    extent = e > extent ? e : extent;
  }
  return extent;
}

/* Of what is stored for a mirrored array: the elements, and two versions of them twice. */
#define MIRRORED_COPIES 5
/* Upper bound of what a member stores beside elements: rounding, locks, labels. */
#define EXTRA 8192

static int is_empty(const rgi_distribution *layout) {
  for (int k = 0; k < layout->dims; k++)
    if (layout->shape[k] == 0)
      return 1;
  return 0;
}

/* Bytes of all memory of the array on all members, at most. Returns 0 if these exceed 63 bits. */
static int count_bytes(const rgi_distribution *layout, size_t element, unsigned flags) {
  int64_t bytes = (int64_t)element, extent;
  if (__builtin_mul_overflow(bytes, flags & RG_ARRAY_MIRRORED ? MIRRORED_COPIES : 1, &bytes))
    return 0;
  /* The blocks of a cyclic layout fill the array exactly. */
  if (!rgi_distribution_is_cyclic(layout) && __builtin_mul_overflow(bytes, layout->owners, &bytes))
    return 0;
  for (int k = 0; k < layout->dims; k++) {
    extent = layout->shape[k];
    if (!rgi_distribution_is_cyclic(layout) &&
        __builtin_add_overflow(largest_extent(layout, k), 2 * layout->ghosts[k], &extent))
      return 0;
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return 0;
  }
  return !__builtin_add_overflow(bytes, (int64_t)layout->members * EXTRA, &bytes);
}

/* All later sums and products of bytes of this array fit into 63 bits then. */
static int check_size(const rgi_distribution *layout, size_t element, unsigned flags) {
  if (is_empty(layout) || count_bytes(layout, element, flags))
    return RG_SUCCESS;
  return rgi_error(RG_ERR_LIMIT, "rg_array_create: the array's size in bytes, with its ghost cells "
                                 "and copies, does not fit into 63 bits");
}

/* 2^64 * blocks / extent, for RG_LAYOUT_BLOCK; 0 where some blocks are empty. */
static uint64_t blocks_per_index(int64_t blocks, int64_t extent) {
  if (blocks > extent)
    return 0;
  return blocks == extent
             ? UINT64_MAX
             : (uint64_t)(((unsigned __int128)(uint64_t)blocks << 64) / (uint64_t)extent);
}

static void even_boundaries(rgi_distribution *layout, int k) {
  for (int i = 0; i <= layout->grid[k]; i++)
    layout->boundaries[k][i] = (int64_t)((__int128)layout->shape[k] * i / layout->grid[k]);
  layout->reciprocal[k] = blocks_per_index(layout->grid[k], layout->shape[k]);
}

static void given_boundaries(rgi_distribution *layout, int k, const int64_t *from) {
  memcpy(layout->boundaries[k], from, (size_t)layout->grid[k] * sizeof *from);
  layout->boundaries[k][layout->grid[k]] = layout->shape[k];
}

/* grid[k] + 1 numbers for each dimension. */
static int take_numbers(const rgi_distribution *layout, int64_t *numbers[]) {
  size_t count = 0;
  for (int k = 0; k < layout->dims; k++)
    count += (size_t)layout->grid[k] + 1;
  int64_t *memory = malloc(count * sizeof *memory);
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "rg_array_create: no memory for the blocks' boundaries");
  for (int k = 0; k < layout->dims; k++) {
    numbers[k] = memory;
    memory += layout->grid[k] + 1;
  }
  return RG_SUCCESS;
}

static int count_filled(rgi_distribution *layout) {
  RGI_TRY(take_numbers(layout, layout->filled));
  for (int k = 0; k < layout->dims; k++) {
    layout->filled[k][0] = 0;
    for (int i = 0; i < layout->grid[k]; i++)
      layout->filled[k][i + 1] =
          layout->filled[k][i] + (layout->boundaries[k][i] < layout->boundaries[k][i + 1]);
  }
  return RG_SUCCESS;
}

static int lay_blocks(const rg_array_spec *spec, rgi_distribution *layout) {
  RGI_TRY(take_numbers(layout, layout->boundaries));
  for (int k = 0; k < layout->dims; k++) {
    layout->blocks[k] = layout->grid[k];
    if (layout->layout == RG_LAYOUT_BLOCK)
      even_boundaries(layout, k);
    else
      given_boundaries(layout, k, spec->boundaries[k]);
    for (int i = 0; i < layout->grid[k]; i++)
      layout->gaps |= layout->boundaries[k][i] == layout->boundaries[k][i + 1];
  }
  return layout->gaps ? count_filled(layout) : RG_SUCCESS;
}

/* extent / chunk, rounded up. */
static int64_t chunks_in(int64_t extent, int64_t chunk) {
  return extent / chunk + (extent % chunk != 0);
}

static void deal_blocks(rgi_distribution *layout) {
  for (int k = 0; k < layout->dims; k++) {
    layout->blocks[k] = chunks_in(layout->shape[k], layout->chunk[k]);
    layout->reciprocal[k] = UINT64_MAX / (uint64_t)layout->chunk[k];
    layout->grid_reciprocal[k] = UINT64_MAX / (uint64_t)layout->grid[k];
  }
}

static void copy_spec(const rg_array_spec *spec, rgi_distribution *layout) {
  size_t n = (size_t)spec->dims;
  layout->dims = spec->dims;
  layout->layout = spec->layout;
  layout->limit = spec->owners;
  memcpy(layout->shape, spec->shape, n * sizeof *layout->shape);
  memcpy(layout->ghosts, spec->ghosts, n * sizeof *layout->ghosts);
  memcpy(layout->chunk, spec->chunk, n * sizeof *layout->chunk);
  memcpy(layout->grid, spec->grid, n * sizeof *layout->grid);
  for (int k = 0; k < spec->dims; k++)
    layout->periodic[k] = spec->periodic[k] != 0;
  /* A longer block is the whole extent; with it products might overflow. */
  for (int k = 0; rgi_distribution_is_cyclic(layout) && k < layout->dims; k++)
    if (layout->chunk[k] > layout->shape[k])
      layout->chunk[k] = layout->shape[k] > 0 ? layout->shape[k] : 1;
}

/* How many blocks there may be along dimension k. */
static int64_t most_blocks(const rgi_distribution *layout, int k) {
  int64_t chunk = layout->chunk[k], most = layout->shape[k];
  if (rgi_distribution_is_cyclic(layout))
    most = chunks_in(layout->shape[k], chunk);
  else if (layout->layout == RG_LAYOUT_BLOCK && chunk != 0)
    most = chunk < 0 ? 1 : layout->shape[k] / chunk;
  return most < 1 ? 1 : most;
}

static void choose_grid(rgi_distribution *layout) {
  int64_t most[RG_ARRAY_MAX_DIMS];
  for (int k = 0; k < layout->dims; k++)
    most[k] = most_blocks(layout, k);
  rgi_distribution_grid(layout->dims, layout->shape, most,
                        layout->limit ? layout->limit : layout->members, layout->grid);
  layout->owners = 1;
  for (int k = 0; k < layout->dims; k++)
    layout->owners *= layout->grid[k];
}

int rgi_distribution_make(const rg_array_spec *spec, int members, rgi_distribution *out) {
  rgi_distribution layout = {.members = members};
  RGI_TRY(rgi_distribution_check_spec(spec, members));
  copy_spec(spec, &layout);
  choose_grid(&layout);
  int code = RG_SUCCESS;
  if (rgi_distribution_is_cyclic(&layout))
    deal_blocks(&layout);
  else
    code = lay_blocks(spec, &layout);
  if (code == RG_SUCCESS)
    code = check_size(&layout, rgi_type_size(spec->type, spec->element_size), spec->flags);
  if (code != RG_SUCCESS) {
    rgi_distribution_clear(&layout);
    return code;
  }
  *out = layout;
  return RG_SUCCESS;
}

void rgi_distribution_clear(rgi_distribution *layout) {
  free(layout->boundaries[0]); /* one allocation for all dimensions */
  free(layout->filled[0]);
  memset(layout, 0, sizeof *layout);
}

static int outside_error(const rgi_distribution *layout, const char *call, int k, int64_t lo,
                         int64_t hi) {
  long long bound = layout->shape[k];
  if (lo > hi)
    return rgi_error(RG_ERR_ARG, "%s: dimension %d: the patch is from %lld to %lld", call, k,
                     (long long)lo, (long long)hi);
  if (lo < 0)
    return rgi_error(RG_ERR_BOUNDS, "%s: dimension %d: the patch starts at index %lld, below 0",
                     call, k, (long long)lo);
  return rgi_error(RG_ERR_BOUNDS,
                   "%s: dimension %d: the patch ends before index %lld, but the bound is %lld",
                   call, k, (long long)hi, bound);
}

int rgi_distribution_inside(const rgi_distribution *layout, const char *call, const int64_t lo[],
                            const int64_t hi[]) {
  for (int k = 0; k < layout->dims; k++)
    if (lo[k] < 0 || lo[k] > hi[k] || hi[k] > layout->shape[k])
      return outside_error(layout, call, k, lo[k], hi[k]);
  return RG_SUCCESS;
}
