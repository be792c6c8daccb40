/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * From the caller's spec to a distribution: the grid is chosen, the blocks' boundaries and the
 * reciprocals by which an index finds its block are computed, and the size is checked. */
#include "distribution/distribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "distribution/spec.h"
#include "distribution/type.h"

static int64_t largest_extent(const rgi_distribution *d, int k) {
  if (!d->boundaries[k])
    return d->chunk[k] < d->shape[k] ? d->chunk[k] : d->shape[k];
  int64_t extent = 0;
  for (int i = 0; i < d->grid[k]; i++) {
    int64_t e = d->boundaries[k][i + 1] - d->boundaries[k][i];
    extent = e > extent ? e : extent;
  }
  return extent;
}

/* Of what is stored for a mirrored array: the elements, and two versions of them twice. */
#define MIRRORED_COPIES 5
/* Upper bound of what a member stores beside elements: rounding, locks, labels. */
#define EXTRA 8192

static int is_empty(const rgi_distribution *d) {
  for (int k = 0; k < d->dims; k++)
    if (d->shape[k] == 0)
      return 1;
  return 0;
}

/* Bytes of all memory of the array on all members, at most. Returns 0 if these exceed 63 bits. */
static int count_bytes(const rgi_distribution *d, size_t element, unsigned flags) {
  int64_t bytes = (int64_t)element, extent;
  if (__builtin_mul_overflow(bytes, flags & RG_ARRAY_MIRRORED ? MIRRORED_COPIES : 1, &bytes))
    return 0;
  /* The blocks of a cyclic layout fill the array exactly. */
  if (d->layout != RG_LAYOUT_BLOCK_CYCLIC && __builtin_mul_overflow(bytes, d->owners, &bytes))
    return 0;
  for (int k = 0; k < d->dims; k++) {
    extent = d->shape[k];
    if (d->layout != RG_LAYOUT_BLOCK_CYCLIC &&
        __builtin_add_overflow(largest_extent(d, k), 2 * d->ghosts[k], &extent))
      return 0;
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return 0;
  }
  return !__builtin_add_overflow(bytes, (int64_t)d->members * EXTRA, &bytes);
}

/* All later sums and products of bytes of this array fit into 63 bits then. */
static int check_size(const rgi_distribution *d, size_t element, unsigned flags) {
  if (is_empty(d) || count_bytes(d, element, flags))
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

static void even_boundaries(rgi_distribution *d, int k) {
  for (int i = 0; i <= d->grid[k]; i++)
    d->boundaries[k][i] = (int64_t)((__int128)d->shape[k] * i / d->grid[k]);
  d->reciprocal[k] = blocks_per_index(d->grid[k], d->shape[k]);
}

static void given_boundaries(rgi_distribution *d, int k, const int64_t *from) {
  memcpy(d->boundaries[k], from, (size_t)d->grid[k] * sizeof *from);
  d->boundaries[k][d->grid[k]] = d->shape[k];
}

/* grid[k] + 1 numbers for each dimension. */
static int take_numbers(const rgi_distribution *d, int64_t *numbers[]) {
  size_t count = 0;
  for (int k = 0; k < d->dims; k++)
    count += (size_t)d->grid[k] + 1;
  int64_t *memory = malloc(count * sizeof *memory);
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "rg_array_create: no memory for the blocks' boundaries");
  for (int k = 0; k < d->dims; k++) {
    numbers[k] = memory;
    memory += d->grid[k] + 1;
  }
  return RG_SUCCESS;
}

static int count_filled(rgi_distribution *d) {
  RGI_TRY(take_numbers(d, d->filled));
  for (int k = 0; k < d->dims; k++) {
    d->filled[k][0] = 0;
    for (int i = 0; i < d->grid[k]; i++)
      d->filled[k][i + 1] = d->filled[k][i] + (d->boundaries[k][i] < d->boundaries[k][i + 1]);
  }
  return RG_SUCCESS;
}

static int lay_blocks(const rg_array_spec *spec, rgi_distribution *d) {
  RGI_TRY(take_numbers(d, d->boundaries));
  for (int k = 0; k < d->dims; k++) {
    d->blocks[k] = d->grid[k];
    if (d->layout == RG_LAYOUT_BLOCK)
      even_boundaries(d, k);
    else
      given_boundaries(d, k, spec->boundaries[k]);
    for (int i = 0; i < d->grid[k]; i++)
      d->gaps |= d->boundaries[k][i] == d->boundaries[k][i + 1];
  }
  return d->gaps ? count_filled(d) : RG_SUCCESS;
}

/* extent / chunk, rounded up. */
static int64_t chunks_in(int64_t extent, int64_t chunk) {
  return extent / chunk + (extent % chunk != 0);
}

static void deal_blocks(rgi_distribution *d) {
  for (int k = 0; k < d->dims; k++) {
    d->blocks[k] = chunks_in(d->shape[k], d->chunk[k]);
    d->reciprocal[k] = UINT64_MAX / (uint64_t)d->chunk[k];
    d->grid_reciprocal[k] = UINT64_MAX / (uint64_t)d->grid[k];
  }
}

static void copy_spec(const rg_array_spec *spec, rgi_distribution *d) {
  size_t n = (size_t)spec->dims;
  d->dims = spec->dims;
  d->layout = spec->layout;
  memcpy(d->shape, spec->shape, n * sizeof *d->shape);
  memcpy(d->ghosts, spec->ghosts, n * sizeof *d->ghosts);
  memcpy(d->chunk, spec->chunk, n * sizeof *d->chunk);
  memcpy(d->grid, spec->grid, n * sizeof *d->grid);
  for (int k = 0; k < spec->dims; k++)
    d->periodic[k] = spec->periodic[k] != 0;
  /* A longer block is the whole extent; with it products might overflow. */
  for (int k = 0; d->layout == RG_LAYOUT_BLOCK_CYCLIC && k < d->dims; k++)
    if (d->chunk[k] > d->shape[k])
      d->chunk[k] = d->shape[k] > 0 ? d->shape[k] : 1;
}

/* How many blocks there may be along dimension k. */
static int64_t most_blocks(const rgi_distribution *d, int k) {
  int64_t chunk = d->chunk[k], most = d->shape[k];
  if (d->layout == RG_LAYOUT_BLOCK_CYCLIC)
    most = chunks_in(d->shape[k], chunk);
  else if (d->layout == RG_LAYOUT_BLOCK && chunk != 0)
    most = chunk < 0 ? 1 : d->shape[k] / chunk;
  return most < 1 ? 1 : most;
}

static void choose_grid(rgi_distribution *d) {
  int64_t most[RG_ARRAY_MAX_DIMS];
  for (int k = 0; k < d->dims; k++)
    most[k] = most_blocks(d, k);
  rgi_distribution_grid(d->dims, d->shape, most, d->members, d->grid);
  d->owners = 1;
  for (int k = 0; k < d->dims; k++)
    d->owners *= d->grid[k];
}

int rgi_distribution_make(const rg_array_spec *spec, int members, rgi_distribution *out) {
  rgi_distribution d = {.members = members};
  RGI_TRY(rgi_spec_check(spec, members));
  copy_spec(spec, &d);
  choose_grid(&d);
  int code = RG_SUCCESS;
  if (d.layout == RG_LAYOUT_BLOCK_CYCLIC)
    deal_blocks(&d);
  else
    code = lay_blocks(spec, &d);
  if (code == RG_SUCCESS)
    code = check_size(&d, rgi_type_size(spec->type, spec->element_size), spec->flags);
  if (code != RG_SUCCESS) {
    rgi_distribution_clear(&d);
    return code;
  }
  *out = d;
  return RG_SUCCESS;
}

void rgi_distribution_clear(rgi_distribution *d) {
  free(d->boundaries[0]); /* one allocation for all dimensions */
  free(d->filled[0]);
  memset(d, 0, sizeof *d);
}
