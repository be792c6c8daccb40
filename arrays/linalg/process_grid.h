/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The members of a group that compute, as a grid of rows x columns processes: the first ones of the
 * group, row by row. A grid of one process is served by LAPACK, others by ScaLAPACK, of which each
 * has a BLACS context. */
#ifndef RGI_PROCESS_GRID_H
#define RGI_PROCESS_GRID_H

#include <regroup/linalg.h>

typedef struct {
  rg_group group; /* a duplicate, whose communicator the context uses; NULL for one process */
  int rows, columns;
  int row, column; /* the caller's place; -1: it is not in the grid */
  int block;       /* the extent of the blocks */
  int system, context;
} rgi_process_grid;

static inline int rgi_process_grid_has_me(const rgi_process_grid *grid) {
  return grid->row >= 0;
}

/* Whether ScaLAPACK computes. */
static inline int rgi_process_grid_is_several(const rgi_process_grid *grid) {
  return grid->rows * grid->columns > 1;
}

/* The grid for an operation of `work` times extent^3 multiplications of this type, on arrays of g.
 * Every member of g; errors are the same on all. rgi_process_grid_free, by every member, also after
 * an error. */
int rgi_process_grid_make(const char *call, rg_group g, rg_array_type type, int64_t extent,
                          double work, const rg_linalg_options *options, rgi_process_grid *grid);
void rgi_process_grid_free(rgi_process_grid *grid);

/* The processes that the cost model chooses, at most `most`: as rows and columns. ts, tw: seconds
 * for a message and for a byte. */
void rgi_process_grid_choose(int most, int64_t extent, double work, double ts, double tw, int *rows,
                             int *columns);

#endif
