/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making arrays: GA_Create_handle, GA_Set_... and GA_Allocate; the other calls are these in one. */
#include <regroup/array.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ga_handle.h"
#include "ga/ga_tile.h"
#include "ga/ga_type.h"
#include "ga_core.h"

int rgi_ga_create_handle(void) {
  rgi_ga_handle *handle;
  rgi_ga_group_of(__func__, rgi_ga_group_default);
  int g = rgi_ga_handle_new(__func__, &handle);
  handle->group = rgi_ga_group_default;
  return g;
}

/* The plan of an array whose dimensions have been set. */
static rgi_ga_handle_plan *plan_of(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_planned(call, g);
  if (!handle->dims)
    rgi_ga_error_end(call, g, "GA_Set_data comes before it");
  return handle->plan;
}

void rgi_ga_set_data(int g_a, int ndim, const int64_t dims[], int type) {
  rgi_ga_handle *handle = rgi_ga_handle_planned(__func__, g_a);
  rg_array_type kind;
  handle->type = rgi_ga_type_of_c(type);
  size_t size = rgi_ga_type_size(handle->type, &kind);
  if (!size)
    rgi_ga_error_end(__func__, g_a, "there is no type %d", type);
  if (ndim < 1 || ndim > GA_MAX_DIM)
    rgi_ga_error_end(__func__, g_a, "ndim is %d; there may be 1 to %d dimensions", ndim,
                     GA_MAX_DIM);
  RGI_GA_TRY(g_a, rg_array_spec_set(&handle->plan->spec, kind, ndim, dims));
  handle->plan->spec.element_size = size;
  handle->dims = ndim;
}

/* Numbers below 1, and no numbers, leave the choice to the library. */
void rgi_ga_set_chunk(int g_a, const int64_t chunk[]) {
  rgi_ga_handle_plan *plan = plan_of(__func__, g_a);
  for (int d = 0; d < plan->spec.dims; d++)
    plan->spec.chunk[d] = chunk && chunk[d] > 0 ? chunk[d] : 0;
}

void rgi_ga_set_array_name(int g_a, const char *name) {
  rgi_ga_handle *handle = rgi_ga_handle_any(__func__, g_a);
  char *copy = strdup(name ? name : "");
  if (!copy)
    rgi_ga_error_end(__func__, g_a, "no memory for a name");
  free(handle->name);
  handle->name = copy;
}

void rgi_ga_set_ghosts(int g_a, const int64_t width[]) {
  rgi_ga_handle_plan *plan = plan_of(__func__, g_a);
  for (int d = 0; d < plan->spec.dims; d++) {
    plan->spec.ghosts[d] = width ? width[d] : 0;
    plan->spec.periodic[d] = 1;
  }
}

/* Corners are always updated; a program may say so at any time. */
void rgi_ga_set_ghost_corner_flag(int g_a, int flag) {
  (void)g_a;
  (void)flag;
}

static void set_tiles(const char *call, int g, rg_array_layout layout, const int64_t block[],
                      const int64_t grid[]) {
  rgi_ga_handle_plan *plan = plan_of(call, g);
  plan->spec.layout = layout;
  for (int d = 0; d < plan->spec.dims; d++) {
    plan->spec.chunk[d] = block[d];
    plan->spec.grid[d] = grid ? (int)grid[d] : 0;
  }
}

void rgi_ga_set_block_cyclic(int g_a, const int64_t dims[]) {
  set_tiles(__func__, g_a, RG_LAYOUT_BLOCK_CYCLIC, dims, NULL);
}

void rgi_ga_set_block_cyclic_proc_grid(int g_a, const int64_t block[], const int64_t proc_grid[]) {
  set_tiles(__func__, g_a, RG_LAYOUT_SCALAPACK, block, proc_grid);
}

void rgi_ga_set_tiled_proc_grid(int g_a, const int64_t block[], const int64_t proc_grid[]) {
  set_tiles(__func__, g_a, RG_LAYOUT_BLOCK_CYCLIC, block, proc_grid);
}

/* The lists of first indices, dimension after dimension. */
static void set_map(const char *call, int g, const int64_t map[], const int64_t block[]) {
  rgi_ga_handle_plan *plan = plan_of(call, g);
  int64_t n = 0, *at;
  for (int d = 0; d < plan->spec.dims; d++) {
    if (block[d] < 1)
      rgi_ga_error_end(call, g, "dimension %d has %lld blocks", d, (long long)block[d]);
    plan->spec.grid[d] = (int)block[d];
    n += block[d];
  }
  free(plan->map);
  plan->map = at = malloc((size_t)n * sizeof *at);
  if (!at)
    rgi_ga_error_end(call, g, "no memory for the blocks' boundaries");
  memcpy(at, map, (size_t)n * sizeof *at);
  for (int d = 0; d < plan->spec.dims; at += block[d++])
    plan->spec.boundaries[d] = at;
}

void rgi_ga_set_irreg_distr(int g_a, const int64_t map[], const int64_t block[]) {
  set_map(__func__, g_a, map, block);
  plan_of(__func__, g_a)->spec.layout = RG_LAYOUT_IRREGULAR;
}

void rgi_ga_set_tiled_irreg_proc_grid(int g_a, const int64_t mapc[], const int64_t nblocks[],
                                      const int64_t proc_grid[]) {
  rgi_ga_set_irreg_distr(g_a, mapc, nblocks);
  rgi_ga_handle_plan *plan = plan_of(__func__, g_a);
  memcpy(plan->grid, proc_grid, (size_t)plan->spec.dims * sizeof *proc_grid);
  plan->irregular_tiles = 1;
}

void rgi_ga_set_irreg_flag(int g_a, int flag) {
  plan_of(__func__, g_a);
  (void)flag;
}

void rgi_ga_set_pgroup(int g_a, int p_handle) {
  rgi_ga_group_of(__func__, p_handle);
  rgi_ga_handle_planned(__func__, g_a)->group = p_handle;
}

void rgi_ga_set_restricted(int g_a, const int list[], int size) {
  rgi_ga_handle_plan *plan = rgi_ga_handle_planned(__func__, g_a)->plan;
  if (size < 1)
    rgi_ga_error_end(__func__, g_a, "size is %d", size);
  free(plan->list);
  plan->list = malloc((size_t)size * sizeof *list);
  if (!plan->list)
    rgi_ga_error_end(__func__, g_a, "no memory for a list of processes");
  memcpy(plan->list, list, (size_t)size * sizeof *list);
  plan->restricted = size;
}

void rgi_ga_set_restricted_range(int g_a, int lo_proc, int hi_proc) {
  int n = hi_proc - lo_proc + 1, *list = n > 0 ? malloc((size_t)n * sizeof *list) : NULL;
  if (!list)
    rgi_ga_error_end(__func__, g_a, "processes from %d to %d", lo_proc, hi_proc);
  for (int i = 0; i < n; i++)
    list[i] = lo_proc + i;
  rgi_ga_set_restricted(g_a, list, n);
  free(list);
}

/* Properties say how an array will be used; none is needed here. */
void rgi_ga_set_property(int g_a, const char *property) {
  rgi_ga_handle_array(__func__, g_a);
  (void)property;
}

void rgi_ga_unset_property(int g_a) {
  rgi_ga_handle_array(__func__, g_a);
}

void rgi_ga_set_memory_dev(int g_a, const char *device) {
  plan_of(__func__, g_a);
  (void)device;
}

/* --- allocation -------------------------------------------------------------------------- */

/* The group with the owners of a restricted array first. */
static rg_group reordered(const char *call, int g, rgi_ga_handle *handle, rg_group group) {
  const rgi_ga_handle_plan *plan = handle->plan;
  int size = rgi_ga_pgroup_nnodes(handle->group), n = 0;
  handle->rank = malloc((size_t)size * sizeof *handle->rank);
  handle->process = malloc((size_t)size * sizeof *handle->process);
  if (!handle->rank || !handle->process)
    rgi_ga_error_end(call, g, "no memory for a list of processes");
  for (int p = 0; p < size; p++)
    handle->rank[p] = -1;
  for (; n < plan->restricted; n++) {
    int p = plan->list[n];
    if (p < 0 || p >= size || handle->rank[p] >= 0)
      rgi_ga_error_end(call, g, "process %d in the list of owners", p);
    handle->rank[p] = n;
    handle->process[n] = p;
  }
  for (int p = 0; p < size; p++)
    if (handle->rank[p] < 0) {
      handle->rank[p] = n;
      handle->process[n++] = p;
    }
  rg_group ordered = NULL;
  rgi_ga_error_check(call, g, rg_group_create(group, size, handle->process, 0, &ordered));
  return ordered;
}

/* Bytes of the caller's elements. */
static size_t own_bytes(const char *call, int g, rg_array array, size_t element) {
  int rank = rgi_ga_handle_me(call, g, array);
  int64_t blocks, lo[GA_MAX_DIM], hi[GA_MAX_DIM], bytes = 0;
  rgi_ga_error_check(call, g, rg_array_block_count(array, rank, &blocks));
  for (int64_t i = 0; i < blocks; i++) {
    int64_t part = (int64_t)element;
    rgi_ga_error_check(call, g, rg_array_block(array, rank, i, lo, hi));
    for (int d = 0; d < rgi_ga_handle_dims(g); d++)
      part *= hi[d] - lo[d];
    bytes += part;
  }
  return (size_t)bytes;
}

/* Counts the array's bytes; returns 0 and frees it if a member has not so many left. */
static int fits(const char *call, int g, rgi_ga_handle *handle, rg_group group, size_t element) {
  handle->bytes = own_bytes(call, g, handle->array, element);
  int fit = !rgi_ga_handle_limit || rgi_ga_handle_used + handle->bytes <= rgi_ga_handle_limit;
  if (rgi_ga_handle_limit)
    rgi_ga_error_check(call, g, rg_allreduce(group, MPI_IN_PLACE, &fit, 1, MPI_INT, MPI_MIN));
  if (!fit) {
    handle->bytes = 0;
    rgi_ga_error_check(call, g, rg_array_free(&handle->array));
  }
  rgi_ga_handle_used += handle->bytes;
  return fit;
}

/* Returns 0 if there is no memory. */
static int allocate(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_planned(call, g);
  rgi_ga_handle_plan *plan = plan_of(call, g);
  rg_group group = rgi_ga_group_of(call, handle->group), ordered = NULL;
  plan->spec.name = handle->name;
  rgi_ga_tile_set(call, g, handle);
  if (plan->restricted) {
    plan->spec.owners = plan->restricted;
    ordered = reordered(call, g, handle, group);
  }
  int code = rg_array_create(ordered ? ordered : group, &plan->spec, &handle->array);
  if (code != RG_ERR_NOMEM)
    rgi_ga_error_check(call, g, code);
  if (ordered)
    rgi_ga_error_check(call, g, rg_group_free(&ordered));
  if (code == RG_ERR_NOMEM || !fits(call, g, handle, group, plan->spec.element_size))
    return 0;
  rgi_ga_handle_settle(handle);
  return 1;
}

int rgi_ga_allocate(int g_a) {
  return allocate(__func__, g_a);
}

int rgi_ga_deallocate(int g_a) {
  rgi_ga_destroy(g_a);
  return 1;
}

void rgi_ga_destroy(int g_a) {
  rgi_ga_handle_of(__func__, g_a);
  rgi_ga_handle_free(__func__, g_a);
}

static void *copied(const char *call, int g, const void *from, size_t bytes) {
  void *copy = from ? malloc(bytes) : NULL;
  if (from && !copy)
    rgi_ga_error_end(call, g, "no memory for a copy of the distribution");
  return from ? memcpy(copy, from, bytes) : NULL;
}

static void copy_distribution(const char *call, int g, const rgi_ga_handle *from,
                              rgi_ga_handle *to) {
  size_t bytes = (size_t)rgi_ga_pgroup_nnodes(from->group) * sizeof *from->rank, n = 0;
  to->rank = copied(call, g, from->rank, bytes);
  to->process = copied(call, g, from->process, bytes);
  memcpy(to->shape, from->shape, sizeof to->shape);
  memcpy(to->tiles, from->tiles, sizeof to->tiles);
  memcpy(to->tile, from->tile, sizeof to->tile);
  for (int d = 0; d < from->dims; d++)
    n += (size_t)from->tiles[d];
  to->map = copied(call, g, from->map, n * sizeof *to->map);
  for (int d = 0; d < from->dims && to->map; d++)
    to->starts[d] = to->map + (from->starts[d] - from->map);
}

int rgi_ga_duplicate(int g_a, const char *array_name) {
  rgi_ga_handle *from = rgi_ga_handle_of(__func__, g_a), *to;
  int g = rgi_ga_handle_new(__func__, &to);
  rgi_ga_set_array_name(g, array_name);
  to->dims = from->dims;
  to->type = from->type;
  to->group = from->group;
  copy_distribution(__func__, g, from, to);
  int code = rg_array_dup(from->array, &to->array);
  rg_array_type kind;
  if (code != RG_ERR_NOMEM)
    RGI_GA_TRY(g, code);
  if (code == RG_ERR_NOMEM || !fits(__func__, g, to, rgi_ga_group_of(__func__, from->group),
                                    rgi_ga_type_size(from->type, &kind))) {
    rgi_ga_handle_free(__func__, g);
    return 0;
  }
  rgi_ga_handle_settle(to);
  return g;
}

/* The memory that the caller brings is not used. */
int rgi_ga_assemble_duplicate(int g_a, const char *name, void *ptr) {
  (void)ptr;
  return rgi_ga_duplicate(g_a, name);
}

int rgi_ga_overlay(int g_a, int g_p) {
  rgi_ga_error_end(__func__, g_a, "two arrays do not share memory here (g_p is %d)", g_p);
}

/* --- several calls in one ------------------------------------------------------------------ */

static int planned(int type, int ndim, const int64_t dims[], const char *name, int group) {
  int g = rgi_ga_create_handle();
  rgi_ga_set_array_name(g, name);
  rgi_ga_set_data(g, ndim, dims, type);
  rgi_ga_set_pgroup(g, group);
  return g;
}

static int allocated(const char *call, int g) {
  if (allocate(call, g))
    return g;
  rgi_ga_handle_free(call, g);
  return 0;
}

int rgi_ga_create_ghosts_config(int type, int ndim, const int64_t dims[], const int64_t width[],
                                const char *name, const int64_t chunk[], int p_handle) {
  int g = planned(type, ndim, dims, name, p_handle);
  rgi_ga_set_ghosts(g, width);
  rgi_ga_set_chunk(g, chunk);
  return allocated(__func__, g);
}

int rgi_ga_create_ghosts(int type, int ndim, const int64_t dims[], const int64_t width[],
                         const char *name, const int64_t chunk[]) {
  return rgi_ga_create_ghosts_config(type, ndim, dims, width, name, chunk, rgi_ga_group_default);
}

int rgi_ga_create_config(int type, int ndim, const int64_t dims[], const char *name,
                         const int64_t chunk[], int p_handle) {
  int g = planned(type, ndim, dims, name, p_handle);
  rgi_ga_set_chunk(g, chunk);
  return allocated(__func__, g);
}

int rgi_ga_create(int type, int ndim, const int64_t dims[], const char *name,
                  const int64_t chunk[]) {
  return rgi_ga_create_config(type, ndim, dims, name, chunk, rgi_ga_group_default);
}

int rgi_ga_create_ghosts_irreg_config(int type, int ndim, const int64_t dims[],
                                      const int64_t width[], const char *name,
                                      const int64_t nblock[], const int64_t map[], int p_handle) {
  int g = planned(type, ndim, dims, name, p_handle);
  rgi_ga_set_ghosts(g, width);
  rgi_ga_set_irreg_distr(g, map, nblock);
  return allocated(__func__, g);
}

int rgi_ga_create_ghosts_irreg(int type, int ndim, const int64_t dims[], const int64_t width[],
                               const char *name, const int64_t nblock[], const int64_t map[]) {
  return rgi_ga_create_ghosts_irreg_config(type, ndim, dims, width, name, nblock, map,
                                           rgi_ga_group_default);
}

int rgi_ga_create_irreg_config(int type, int ndim, const int64_t dims[], const char *name,
                               const int64_t block[], const int64_t map[], int p_handle) {
  int g = planned(type, ndim, dims, name, p_handle);
  rgi_ga_set_irreg_distr(g, map, block);
  return allocated(__func__, g);
}

int rgi_ga_create_irreg(int type, int ndim, const int64_t dims[], const char *name,
                        const int64_t block[], const int64_t map[]) {
  return rgi_ga_create_irreg_config(type, ndim, dims, name, block, map, rgi_ga_group_default);
}
