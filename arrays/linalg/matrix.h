/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A matrix on a grid of processes, as ScaLAPACK has it: blocks of block x block elements, dealt out
 * along rows and columns of the grid, the blocks of a process side by side, column by column. On
 * one process it is LAPACK's matrix. */
#ifndef RGI_MATRIX_H
#define RGI_MATRIX_H

#include "linalg/process_grid.h"

typedef struct {
  const rgi_process_grid *grid;
  rg_array_type type;
  size_t element;
  int rows, columns;             /* of the whole */
  int local_rows, local_columns; /* of the caller's part: 0 where it is not in the grid */
  int ld;                        /* of that, at least 1 */
  int descriptor[9];
  char *part;
  char *panel; /* a row of blocks in C order, local_columns in a row: to get and put them */
  rg_request *requests; /* of its tiles */
} rgi_matrix;

/* The caller's part, with undefined elements. RG_ERR_NOMEM on the caller alone. */
int rgi_matrix_make(const rgi_process_grid *grid, rg_array_type type, int64_t rows, int64_t columns,
                    rgi_matrix *matrix);
void rgi_matrix_free(rgi_matrix *matrix);

/* Bytes of the caller's part of such a matrix. */
size_t rgi_matrix_bytes(const rgi_process_grid *grid, rg_array_type type, int64_t rows,
                        int64_t columns);

/* Gets the part from an array of the same extents; puts columns first to last - 1 of the matrix
 * into columns 0, 1, ... of the array. The caller alone. */
int rgi_matrix_get(const rgi_matrix *matrix, rg_array a);
int rgi_matrix_put(const rgi_matrix *matrix, int64_t first, int64_t last, rg_array a);

/* Sets the elements above the diagonal to 0. */
void rgi_matrix_clear_above(const rgi_matrix *matrix);

/* The index in the whole of a local row or column. */
static inline int64_t rgi_matrix_index(int local, int block, int place, int processes) {
  return ((int64_t)(local / block) * processes + place) * block + local % block;
}

#endif
