/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tiles: the blocks of an array of which a process may have several. They are numbered in C order,
 * as the processes of the grid are. */
#ifndef RGI_GA_TILE_H
#define RGI_GA_TILE_H

#include "ga/ga_handle.h"

/* Whether the array has tiles, and not one block for each process. */
static inline int rgi_ga_tile_has(const rgi_ga_handle *handle) {
  return handle->tiles[0] > 0;
}

/* How many there are. */
int64_t rgi_ga_tile_count(const rgi_ga_handle *handle);

/* The place of a tile by its number, and its patch, hi exclusive, by its place. Returns 0 if there
 * is no such tile. */
int rgi_ga_tile_place(const rgi_ga_handle *handle, int64_t number, int64_t place[]);
int rgi_ga_tile_patch(const rgi_ga_handle *handle, const int64_t place[], int64_t lo[],
                      int64_t hi[]);

/* The number of the tile with an element. */
int64_t rgi_ga_tile_of(const rgi_ga_handle *handle, const int64_t at[]);

/* Notes the tiles of a plan that is to be allocated, and says in the plan what the library has to
 * divide: it has no tiles of different extents, so a process gets as many neighbours instead. */
void rgi_ga_tile_set(const char *call, int g, rgi_ga_handle *handle);

#endif
