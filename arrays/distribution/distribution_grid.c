/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The grid of a block distribution: a search over the divisions of each dimension, of which
 * only those are tried that are close to the one for cubes. The search runs twice: first for
 * the size of the smallest largest block, then for the blocks of least surface that are about
 * as small. */
#include <math.h>
#include <string.h>

#include "distribution/distribution.h"

enum { NEAR = 3 };              /* divisions that are tried on either side of the cube's */
static const double MORE = 1.1; /* a largest block up to this factor above the least is as good */

typedef struct {
  int dims;
  const int64_t *shape, *most;
  int given[RG_ARRAY_MAX_DIMS], trial[RG_ARRAY_MAX_DIMS], best[RG_ARRAY_MAX_DIMS];
  double least;   /* elements of the smallest largest block that was seen */
  double surface; /* of the best; negative: looking for the least block only */
} grid_search;

/* Of the largest block; at least 1, so that empty arrays are no special case. */
static double block_extent(const grid_search *search, int k) {
  int64_t grid = search->trial[k];
  return fmax(1, (double)(search->shape[k] / grid + (search->shape[k] % grid != 0)));
}

static void rate_trial(grid_search *search) {
  double elements = 1, surface = 0;
  for (int k = 0; k < search->dims; k++)
    elements *= block_extent(search, k);
  for (int k = 0; k < search->dims; k++)
    surface += elements / block_extent(search, k);
  if (search->surface < 0) {
    search->least = fmin(search->least, elements);
  } else if (elements <= MORE * search->least && surface < search->surface) {
    search->surface = surface;
    memcpy(search->best, search->trial, sizeof search->best);
  }
}

/* How often dimension k would be divided if the rest of the dimensions could be
 * divided into cubes for this many members. */
static int64_t cube_divisions(const grid_search *search, int k, int64_t members) {
  double elements = 1;
  int open = 0;
  for (int j = k; j < search->dims; j++)
    if (search->given[j] == 0 && search->most[j] > 1) {
      elements *= (double)search->shape[j];
      open++;
    }
  double edge = pow(elements / (double)members, 1.0 / open);
  return (int64_t)fmin((double)search->shape[k] / edge + 0.5, (double)members);
}

static void divide_dimensions(grid_search *search, int k, int64_t members);

static void try_division(grid_search *search, int k, int64_t members, int64_t parts) {
  search->trial[k] = (int)parts;
  divide_dimensions(search, k + 1, members / parts);
}

/* Tries divisions of the dimensions from k on for what is left of the members. */
static void divide_dimensions(grid_search *search, int k, int64_t members) {
  if (k == search->dims) {
    rate_trial(search);
    return;
  }
  int64_t most = search->most[k] < members ? search->most[k] : members;
  if (search->given[k] || most == 1 || k == search->dims - 1) {
    search->trial[k] = search->given[k] ? search->given[k] : (int)most;
    divide_dimensions(search, k + 1, search->given[k] ? members : members / search->trial[k]);
    return;
  }
  int64_t middle = cube_divisions(search, k, members), high = middle + NEAR, low = middle - NEAR;
  try_division(search, k, members, most);
  for (int64_t parts = high < most ? high : most - 1; parts > 1 && parts >= low; parts--)
    try_division(search, k, members, parts);
  try_division(search, k, members, 1);
}

void rgi_distribution_grid(int dims, const int64_t shape[], const int64_t most[], int64_t members,
                           int grid[]) {
  grid_search search = {
      .dims = dims, .shape = shape, .most = most, .least = INFINITY, .surface = -1};
  memcpy(search.given, grid, (size_t)dims * sizeof *grid);
  for (int k = 0; k < dims; k++)
    if (grid[k])
      members /= grid[k];
  divide_dimensions(&search, 0, members);
  search.surface = INFINITY;
  divide_dimensions(&search, 0, members);
  memcpy(grid, search.best, (size_t)dims * sizeof *grid);
}
