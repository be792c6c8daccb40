/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Ghost cells. They wrap around at all edges, and all directions are updated at once. */
#include <regroup/array_math.h>
#include <string.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

void rgi_ga_update_ghosts(int g_a) {
  RGI_GA_TRY(g_a, rg_array_update_ghosts(RGI_GA_ARRAY(g_a)));
}

int rgi_ga_update_ghost_dir(int g_a, int dimension, int idir, int flag) {
  (void)dimension;
  (void)idir;
  (void)flag;
  rgi_ga_update_ghosts(g_a);
  return 1;
}

void rgi_ga_update_ghosts_nb(int g_a, ga_nbhdl_t *nbhandle) {
  rgi_ga_update_ghosts(g_a);
  *nbhandle = 0;
}

/* The caller's own block. */
static void own_block(const char *call, int g, int64_t lo[], int64_t end[]) {
  rg_array array = rgi_ga_handle_array(call, g);
  rgi_ga_error_check(call, g,
                     rg_array_distribution(array, rgi_ga_handle_me(call, g, array), lo, end));
}

void rgi_ga_access_ghosts(int g_a, int64_t dims[], void *ptr, int64_t ld[]) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM];
  own_block(__func__, g_a, lo, end);
  int64_t elements = 1;
  for (int d = 0; d < spec.dims; d++) {
    elements *= end[d] - lo[d];
    dims[d] = end[d] - lo[d] + 2 * spec.ghosts[d];
  }
  *(void **)ptr = NULL;
  if (elements) /* else the process has no memory, and nothing to look at */
    RGI_GA_TRY(g_a, rg_array_access_ghosts(RGI_GA_ARRAY(g_a), RG_ACCESS_READ_WRITE, ptr, ld));
}

/* subscript counts from the first ghost cell. */
void rgi_ga_access_ghost_element(int g_a, void *ptr, const int64_t subscript[], int64_t ld[]) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  int64_t dims[GA_MAX_DIM], offset = 0;
  rgi_ga_access_ghosts(g_a, dims, ptr, ld);
  for (int d = 0; d < spec.dims; d++) {
    if (subscript[d] < 0 || subscript[d] >= dims[d])
      rgi_ga_error_end(__func__, g_a, "subscript %lld of dimension %d is outside the block",
                       (long long)subscript[d], d);
    offset = offset * dims[d] + subscript[d];
  }
  *(char **)ptr += offset * (int64_t)spec.element_size;
}

void rgi_ga_release_ghosts(int g_a) {
  RGI_GA_TRY(g_a, rg_array_release_ghosts(RGI_GA_ARRAY(g_a)));
}

void rgi_ga_release_update_ghosts(int g_a) {
  rgi_ga_release_ghosts(g_a);
}

void rgi_ga_release_ghost_element(int g_a, const int64_t index[]) {
  (void)index;
  rgi_ga_release_ghosts(g_a);
}

void rgi_ga_release_update_ghost_element(int g_a, const int64_t index[]) {
  rgi_ga_release_ghost_element(g_a, index);
}

/* The ghost cells in one direction, from their owners. */
void rgi_ga_nbget_ghost_dir(int g_a, const int64_t mask[], ga_nbhdl_t *handle) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM], first[GA_MAX_DIM], ld[GA_MAX_DIM];
  char *at;
  own_block(__func__, g_a, lo, end);
  for (int d = 0; d < spec.dims; d++) {
    int64_t width = spec.ghosts[d], own = end[d] - lo[d];
    if (mask[d] < -1 || mask[d] > 1)
      rgi_ga_error_end(__func__, g_a, "mask[%d] is %lld", d, (long long)mask[d]);
    first[d] = mask[d] < 0 ? 0 : mask[d] > 0 ? own + width : width;
    lo[d] += mask[d] < 0 ? -width : mask[d] > 0 ? own : 0;
    end[d] = lo[d] + (mask[d] ? width : own);
  }
  *handle = 0;
  for (int d = 0; d < spec.dims; d++)
    if (end[d] == lo[d])
      return;
  rgi_ga_access_ghost_element(g_a, &at, first, ld);
  RGI_GA_TRY(g_a, rg_array_get_periodic(RGI_GA_ARRAY(g_a), lo, end, at, ld));
}

/* A patch that lies in the caller's block and its ghosts is copied from there. */
void rgi_ga_get_ghost_block(int g_a, const int64_t lo[], const int64_t hi[], void *buf,
                            const int64_t ld[]) {
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  int64_t own[GA_MAX_DIM], end[GA_MAX_DIM], inside = 1;
  own_block(__func__, g_a, own, end);
  for (int d = 0; d < spec.dims; d++)
    inside = inside && end[d] > own[d] && lo[d] >= own[d] - spec.ghosts[d] &&
             hi[d] < end[d] + spec.ghosts[d];
  if (!inside) {
    rgi_ga_periodic_get(g_a, lo, hi, buf, ld);
    return;
  }
  int64_t at[GA_MAX_DIM], dims[GA_MAX_DIM], own_ld[GA_MAX_DIM];
  const char *start;
  const int last = spec.dims - 1;
  rgi_ga_access_ghosts(g_a, dims, &start, own_ld);
  memcpy(at, lo, (size_t)spec.dims * sizeof *at);
  for (int d = last; d >= 0;) {
    int64_t from = 0, to = 0;
    for (int k = 0; k < spec.dims; k++) {
      from = from * dims[k] + at[k] - own[k] + spec.ghosts[k];
      to = to * (k == 0 ? 1 : ld[k - 1]) + at[k] - lo[k];
    }
    memcpy((char *)buf + to * (int64_t)spec.element_size, start + from * (int64_t)spec.element_size,
           (size_t)(hi[last] - lo[last] + 1) * spec.element_size);
    for (d = last - 1; d >= 0 && at[d]++ == hi[d]; d--)
      at[d] = lo[d];
  }
}
