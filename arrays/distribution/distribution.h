/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How the elements of an array are divided among the members of its group. Functions of the
 * numbers alone: they need no communication and no array's memory.
 *
 * A member's memory holds its blocks one after another, in the order of their numbers.
 * A block is a dense C array of its extents, with the ghost cells around it. With
 * RG_LAYOUT_SCALAPACK all blocks of a member together are one dense C array. Where an element
 * is: distribution_owner.h; the blocks that a patch crosses: piece.h. */
#ifndef RGI_DISTRIBUTION_H
#define RGI_DISTRIBUTION_H

#include <regroup/array.h>

typedef struct {
  int dims;
  rg_array_layout layout;
  int members; /* of the group */
  int owners;  /* product of grid: ranks from here on own nothing */
  int limit;   /* the spec's owners */
  int64_t shape[RG_ARRAY_MAX_DIMS], ghosts[RG_ARRAY_MAX_DIMS], chunk[RG_ARRAY_MAX_DIMS];
  int grid[RG_ARRAY_MAX_DIMS], periodic[RG_ARRAY_MAX_DIMS];
  int64_t *boundaries[RG_ARRAY_MAX_DIMS]; /* grid[d] + 1 each; NULL if it is cyclic */
  /* Computed in advance (span.h), so that no access needs a division. */
  uint64_t reciprocal[RG_ARRAY_MAX_DIMS], grid_reciprocal[RG_ARRAY_MAX_DIMS];
  int64_t blocks[RG_ARRAY_MAX_DIMS];  /* along each dimension */
  int gaps;                           /* some blocks are empty */
  int64_t *filled[RG_ARRAY_MAX_DIMS]; /* with gaps: of the blocks before each, how many are not */
} rgi_distribution;

/* Whether blocks are dealt out cyclically: a member may have any number of them. */
static inline int rgi_distribution_layout_is_cyclic(rg_array_layout layout) {
  return layout >= RG_LAYOUT_BLOCK_CYCLIC;
}

static inline int rgi_distribution_is_cyclic(const rgi_distribution *layout) {
  return rgi_distribution_layout_is_cyclic(layout->layout);
}

/* Checks the spec and works out the distribution over so many members; free it
 * with rgi_distribution_clear (fine for one that is all zero). Errors: RG_ERR_ARG,
 * RG_ERR_LIMIT (bytes of the whole, ghosts and mirrored copies included, exceed 63 bits),
 * RG_ERR_NOMEM. */
int rgi_distribution_make(const rg_array_spec *spec, int members, rgi_distribution *layout);
void rgi_distribution_clear(rgi_distribution *layout);

/* Fills in grid[d] where it is 0, with at most most[d] and the product at most
 * members. The largest block is within a tenth of the smallest possible; of the grids for
 * which this holds, the one whose blocks are nearest to cubes is taken. Where this leaves a
 * choice, the earlier dimension is divided. */
void rgi_distribution_grid(int dims, const int64_t shape[], const int64_t most[], int64_t members,
                           int grid[]);

/* RG_ERR_BOUNDS with a text that names dimension, index and bound, or RG_ERR_ARG
 * (lo above hi), unless lo..hi is inside the array. call: the public function. */
int rgi_distribution_inside(const rgi_distribution *layout, const char *call, const int64_t lo[],
                            const int64_t hi[]);

/* Everything about a spec but its size in bytes; RG_ERR_ARG with a text that says
 * what of it is wrong. */
int rgi_distribution_check_spec(const rg_array_spec *spec, int members);

#endif
