/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pointers to elements. Those of a tile on another node are a copy, which the release puts back:
 * the library's tiles may belong to other processes than Global Arrays' (ga_tile.h). */
#include <stdlib.h>
#include <string.h>

#include "ga/ga_patch.h"
#include "ga/ga_tile.h"
#include "ga/ga_type.h"
#include "ga_core.h"

void rgi_ga_access(int g_a, const int64_t lo[], const int64_t hi[], void *ptr, int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_access(patch.array, lo, patch.end, RG_ACCESS_READ_WRITE, ptr, ld));
}

void rgi_ga_release(int g_a, const int64_t lo[], const int64_t hi[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_release(patch.array, lo, patch.end));
}

void rgi_ga_release_update(int g_a, const int64_t lo[], const int64_t hi[]) {
  rgi_ga_release(g_a, lo, hi);
}

/* --- tiles ----------------------------------------------------------------------------------- */

typedef struct borrowed_tile {
  struct borrowed_tile *next;
  int g;
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM];
  char elements[];
} borrowed_tile;

static borrowed_tile *borrowed;

static void *borrow(const char *call, int g, const int64_t lo[], const int64_t end[],
                    int64_t ld[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(call, g);
  rg_array_type kind;
  size_t bytes = rgi_ga_type_size(handle->type, &kind);
  for (int d = 0; d < handle->dims; d++) {
    bytes *= (size_t)(end[d] - lo[d]);
    if (d > 0)
      ld[d - 1] = end[d] - lo[d];
  }
  borrowed_tile *copy = malloc(sizeof *copy + bytes);
  if (!copy)
    rgi_ga_error_end(call, g, "no memory for a copy of a block");
  copy->next = borrowed;
  copy->g = g;
  memcpy(copy->lo, lo, (size_t)handle->dims * sizeof *lo);
  memcpy(copy->end, end, (size_t)handle->dims * sizeof *end);
  rgi_ga_error_check(call, g, rg_array_get(handle->array, lo, end, copy->elements, NULL));
  borrowed = copy;
  return copy->elements;
}

static void give_back(const char *call, int g, const int64_t lo[], int update) {
  rgi_ga_handle *handle = rgi_ga_handle_of(call, g);
  for (borrowed_tile **link = &borrowed; *link; link = &(*link)->next) {
    borrowed_tile *copy = *link;
    if (copy->g != g || memcmp(copy->lo, lo, (size_t)handle->dims * sizeof *lo))
      continue;
    if (update)
      rgi_ga_error_check(call, g,
                         rg_array_put(handle->array, copy->lo, copy->end, copy->elements, NULL));
    *link = copy->next;
    free(copy);
    return;
  }
}

static void access_tile(const char *call, int g, const int64_t place[], void *ptr, int64_t ld[]) {
  rgi_ga_handle *handle = rgi_ga_handle_of(call, g);
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM];
  if (!rgi_ga_tile_has(handle))
    rgi_ga_error_end(call, g, "it is not divided into blocks of which a process has several");
  if (!rgi_ga_tile_patch(handle, place, lo, end))
    rgi_ga_error_end(call, g, "there is no such block; the first of its numbers is %lld",
                     (long long)place[0]);
  int code = rg_array_access(handle->array, lo, end, RG_ACCESS_READ_WRITE, ptr, ld);
  if (code == RG_ERR_RANK)
    *(void **)ptr = borrow(call, g, lo, end, ld);
  else
    rgi_ga_error_check(call, g, code);
}

static void release_tile(const char *call, int g, const int64_t place[], int update) {
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM];
  if (rgi_ga_tile_patch(rgi_ga_handle_of(call, g), place, lo, end))
    give_back(call, g, lo, update);
}

/* The place of a tile by its number. */
static void find_tile(const char *call, int g, int64_t number, int64_t place[]) {
  if (!rgi_ga_tile_place(rgi_ga_handle_of(call, g), number, place))
    rgi_ga_error_end(call, g, "there is no block %lld", (long long)number);
}

void rgi_ga_access_block_grid(int g_a, const int64_t index[], void *ptr, int64_t ld[]) {
  access_tile(__func__, g_a, index, ptr, ld);
}

void rgi_ga_access_block(int g_a, int64_t idx, void *ptr, int64_t ld[]) {
  int64_t place[GA_MAX_DIM];
  find_tile(__func__, g_a, idx, place);
  access_tile(__func__, g_a, place, ptr, ld);
}

void rgi_ga_release_block_grid(int g_a, const int64_t index[]) {
  release_tile(__func__, g_a, index, 0);
}

void rgi_ga_release_update_block_grid(int g_a, const int64_t index[]) {
  release_tile(__func__, g_a, index, 1);
}

void rgi_ga_release_block(int g_a, int idx) {
  int64_t place[GA_MAX_DIM];
  find_tile(__func__, g_a, idx, place);
  release_tile(__func__, g_a, place, 0);
}

void rgi_ga_release_update_block(int g_a, int idx) {
  int64_t place[GA_MAX_DIM];
  find_tile(__func__, g_a, idx, place);
  release_tile(__func__, g_a, place, 1);
}

/* All elements of a process on the caller's node: they begin with its first block. */
void rgi_ga_access_block_segment(int g_a, int proc, void *ptr, int64_t *len) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM], blocks;
  if (proc < 0 || proc >= rgi_ga_pgroup_nnodes(handle->group))
    rgi_ga_error_end(__func__, g_a, "there is no process %d", proc);
  int rank = rgi_ga_handle_rank(handle, proc);
  RGI_GA_TRY(g_a, rg_array_block_count(handle->array, rank, &blocks));
  *len = 0;
  *(void **)ptr = NULL;
  for (int64_t i = blocks - 1; i >= 0; i--) {
    int64_t elements = 1;
    RGI_GA_TRY(g_a, rg_array_block(handle->array, rank, i, lo, end));
    for (int d = 0; d < handle->dims; d++)
      elements *= end[d] - lo[d];
    *len += elements;
  }
  if (*len)
    RGI_GA_TRY(g_a, rg_array_access(handle->array, lo, end, RG_ACCESS_READ_WRITE, ptr, NULL));
}

void rgi_ga_release_block_segment(int g_a, int idx) {
  RGI_GA_ARRAY(g_a);
  (void)idx;
}

void rgi_ga_release_update_block_segment(int g_a, int idx) {
  rgi_ga_release_block_segment(g_a, idx);
}
