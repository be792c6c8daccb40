/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries about arrays. Where an array has tiles, Global Arrays numbers these in place of
 * processes. */
#include <regroup/array.h>
#include <stdio.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ga_handle.h"
#include "ga/ga_patch.h"
#include "ga/ga_tile.h"
#include "ga/ga_type.h"
#include "ga_core.h"

void rgi_ga_inquire(int g_a, int *type, int *ndim, int64_t dims[]) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  *type = rgi_ga_handle_of(__func__, g_a)->type;
  *ndim = spec.dims;
  memcpy(dims, spec.shape, (size_t)spec.dims * sizeof *dims);
}

char *rgi_ga_inquire_name(int g_a) {
  static char none[1];
  char *name = rgi_ga_handle_of(__func__, g_a)->name;
  return name ? name : none;
}

int rgi_ga_ndim(int g_a) {
  return rgi_ga_handle_of(__func__, g_a)->dims;
}

int rgi_ga_get_dimension(int g_a) {
  return rgi_ga_handle_any(__func__, g_a)->dims;
}

int rgi_ga_get_pgroup(int g_a) {
  return rgi_ga_handle_of(__func__, g_a)->group;
}

int rgi_ga_has_ghosts(int g_a) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  for (int d = 0; d < spec.dims; d++)
    if (spec.ghosts[d])
      return 1;
  return 0;
}

int rgi_ga_valid_handle(int g_a) {
  const rgi_ga_handle *handle = rgi_ga_handle_or_null(g_a);
  return handle && handle->array;
}

int rgi_ga_verify_handle(int g_a) {
  return rgi_ga_valid_handle(g_a);
}

void rgi_ga_check_handle(int g_a, const char *string) {
  if (!rgi_ga_valid_handle(g_a))
    rgi_ga_error_end(__func__, 0, "%s: there is no array %d", string ? string : "", g_a);
}

/* No array is mirrored: the processes of a node share its memory. */
int rgi_ga_is_mirrored(int g_a) {
  RGI_GA_ARRAY(g_a);
  return 0;
}

void rgi_ga_merge_mirrored(int g_a) {
  RGI_GA_TRY(g_a, rg_array_sync(RGI_GA_ARRAY(g_a)));
}

/* --- distribution -------------------------------------------------------------------------- */

static void no_process(const char *call, int g, int process) {
  rgi_ga_error_end(call, g, "there is no process or block %d", process);
}

/* Of a process without elements: lo is 0 and hi -1, as Global Arrays has it from 1 in Fortran. */
void rgi_ga_distribution(int g_a, int iproc, int64_t lo[], int64_t hi[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  int64_t place[GA_MAX_DIM], empty = 0;
  if (rgi_ga_tile_has(handle)) {
    if (!rgi_ga_tile_place(handle, iproc, place))
      no_process(__func__, g_a, iproc);
    rgi_ga_tile_patch(handle, place, lo, hi);
  } else {
    if (iproc < 0 || iproc >= rgi_ga_pgroup_nnodes(handle->group))
      no_process(__func__, g_a, iproc);
    RGI_GA_TRY(g_a,
               rg_array_distribution(handle->array, rgi_ga_handle_rank(handle, iproc), lo, hi));
  }
  for (int d = 0; d < handle->dims; d++) {
    hi[d]--;
    empty |= hi[d] < lo[d];
  }
  for (int d = 0; d < handle->dims && empty; d++) {
    lo[d] = -1;
    hi[d] = -2;
  }
}

static int is_inside(const char *call, int g, const int64_t at[]) {
  rg_array_spec spec = rgi_ga_handle_spec(call, g);
  for (int d = 0; d < spec.dims; d++)
    if (at[d] < 0 || at[d] >= spec.shape[d])
      return 0;
  return 1;
}

/* -1: outside. */
int rgi_ga_locate(int g_a, const int64_t subscript[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  int rank;
  if (!is_inside(__func__, g_a, subscript))
    return -1;
  if (rgi_ga_tile_has(handle))
    return (int)rgi_ga_tile_of(handle, subscript);
  RGI_GA_TRY(g_a, rg_array_owner(handle->array, subscript, &rank));
  return rgi_ga_handle_process(handle, rank);
}

/* The tiles from first to last that a patch crosses; returns their number. */
static int64_t tiles_of(const rgi_ga_handle *handle, const int64_t lo[], const int64_t hi[],
                        int64_t first[], int64_t last[]) {
  int64_t count = 1;
  rgi_ga_tile_place(handle, rgi_ga_tile_of(handle, lo), first);
  rgi_ga_tile_place(handle, rgi_ga_tile_of(handle, hi), last);
  for (int d = 0; d < handle->dims; d++)
    count *= last[d] - first[d] + 1;
  return count;
}

int rgi_ga_locate_nnodes(int g_a, const int64_t lo[], const int64_t hi[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  int64_t first[GA_MAX_DIM], last[GA_MAX_DIM], count;
  RGI_GA_TRY(g_a, rg_array_locate_count(patch.array, lo, patch.end, &count)); /* checks, too */
  return (int)(rgi_ga_tile_has(handle) ? tiles_of(handle, lo, hi, first, last) : count);
}

/* -1 if the array has no tiles. */
int rgi_ga_locate_num_blocks(int g_a, const int64_t lo[], const int64_t hi[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  return rgi_ga_tile_has(handle) ? rgi_ga_locate_nnodes(g_a, lo, hi) : -1;
}

/* Piece i of a patch that crosses tiles. */
static int piece_of(const rgi_ga_handle *handle, const int64_t lo[], const int64_t hi[], int64_t i,
                    int64_t part_lo[], int64_t part_hi[]) {
  int64_t first[GA_MAX_DIM], last[GA_MAX_DIM], place[GA_MAX_DIM], number = 0;
  tiles_of(handle, lo, hi, first, last);
  for (int d = handle->dims - 1; d >= 0; d--) {
    int64_t along = last[d] - first[d] + 1;
    place[d] = first[d] + i % along;
    i /= along;
  }
  rgi_ga_tile_patch(handle, place, part_lo, part_hi);
  for (int d = 0; d < handle->dims; d++) {
    part_lo[d] = lo[d] > part_lo[d] ? lo[d] : part_lo[d];
    part_hi[d] = hi[d] + 1 < part_hi[d] ? hi[d] + 1 : part_hi[d];
    number = number * handle->tiles[d] + place[d];
  }
  return (int)number;
}

int rgi_ga_locate_region(int g_a, const int64_t lo[], const int64_t hi[], int64_t map[],
                         int procs[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  int count = rgi_ga_locate_nnodes(g_a, lo, hi), dims = handle->dims;
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  for (int i = 0; i < count; i++, map += 2 * dims) {
    rg_array_piece piece;
    if (rgi_ga_tile_has(handle)) {
      procs[i] = piece_of(handle, lo, hi, i, piece.lo, piece.hi);
    } else {
      RGI_GA_TRY(g_a, rg_array_locate(patch.array, lo, patch.end, i, &piece));
      procs[i] = rgi_ga_handle_process(handle, piece.rank);
    }
    for (int d = 0; d < dims; d++) {
      map[d] = piece.lo[d];
      map[dims + d] = piece.hi[d] - 1;
    }
  }
  return count;
}

/* --- blocks and grids ------------------------------------------------------------------------ */

int rgi_ga_total_blocks(int g_a) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  return rgi_ga_tile_has(handle) ? (int)rgi_ga_tile_count(handle) : -1;
}

void rgi_ga_get_block_info(int g_a, int64_t num_blocks[], int64_t block_dims[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  if (handle->map)
    rgi_ga_error_end(__func__, g_a, "its blocks have different extents");
  memcpy(num_blocks, handle->tiles, (size_t)handle->dims * sizeof *num_blocks);
  memcpy(block_dims, handle->tile, (size_t)handle->dims * sizeof *block_dims);
}

void rgi_ga_nblock(int g_a, int64_t nblock[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  if (rgi_ga_tile_has(handle))
    memcpy(nblock, handle->tiles, (size_t)handle->dims * sizeof *nblock);
  else
    rgi_ga_get_proc_grid(g_a, nblock);
}

int rgi_ga_uses_proc_grid(int g_a) {
  return rgi_ga_tile_has(rgi_ga_handle_of(__func__, g_a));
}

void rgi_ga_get_proc_grid(int g_a, int64_t dims[]) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  for (int d = 0; d < spec.dims; d++)
    dims[d] = spec.grid[d];
}

/* The place of process iproc in the grid. */
void rgi_ga_get_proc_index(int g_a, int iproc, int64_t subscript[]) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  int64_t i = rgi_ga_handle_rank(rgi_ga_handle_of(__func__, g_a), iproc);
  for (int d = spec.dims - 1; d >= 0; d--) {
    subscript[d] = i % spec.grid[d];
    i /= spec.grid[d];
  }
}

void rgi_ga_proc_topology(int g_a, int proc, int64_t coord[]) {
  rgi_ga_get_proc_index(g_a, proc, coord);
}

static int same_boundaries(const rg_array_spec *a, const rg_array_spec *b) {
  for (int d = 0; d < a->dims && a->boundaries[d] && b->boundaries[d]; d++)
    if (memcmp(a->boundaries[d], b->boundaries[d], (size_t)a->grid[d] * sizeof *a->boundaries[d]))
      return 0;
  return 1;
}

static int same_owners(const rgi_ga_handle *first, const rgi_ga_handle *second) {
  int size = rgi_ga_pgroup_nnodes(first->group);
  for (int p = 0; p < size; p++)
    if (rgi_ga_handle_rank(first, p) != rgi_ga_handle_rank(second, p))
      return 0;
  return 1;
}

int rgi_ga_compare_distr(int g_a, int g_b) {
  rg_array_spec a = rgi_ga_handle_spec(__func__, g_a), b = rgi_ga_handle_spec(__func__, g_b);
  const rgi_ga_handle *first = rgi_ga_handle_of(__func__, g_a);
  const rgi_ga_handle *second = rgi_ga_handle_of(__func__, g_b);
  return a.dims == b.dims && !memcmp(a.shape, b.shape, sizeof a.shape) &&
         !memcmp(a.grid, b.grid, sizeof a.grid) &&
         !memcmp(first->tiles, second->tiles, sizeof first->tiles) &&
         !memcmp(first->tile, second->tile, sizeof first->tile) && same_boundaries(&a, &b) &&
         same_owners(first, second);
}
