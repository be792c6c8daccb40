/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements move one row of blocks at a time: its tiles come side by side into a panel in C order,
 * all at once, and the panel is transposed into the part. So each process gets its own elements
 * alone, and needs one panel of extra memory. */
#include "linalg/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "distribution/type.h"

/* ScaLAPACK's NUMROC: how many of n rows or columns a place of so many gets. */
static int64_t share(int64_t n, int block, int place, int processes) {
  int64_t blocks = n / block, own = blocks / processes * block, more = blocks % processes;
  if (place < 0)
    return 0;
  return own + (place < more ? block : place == more ? n % block : 0);
}

size_t rgi_matrix_bytes(const rgi_process_grid *grid, rg_array_type type, int64_t rows,
                        int64_t columns) {
  return (size_t)share(rows, grid->block, grid->row, grid->rows) *
         (size_t)share(columns, grid->block, grid->column, grid->columns) * rgi_type_size(type, 0);
}

int rgi_matrix_make(const rgi_process_grid *grid, rg_array_type type, int64_t rows, int64_t columns,
                    rgi_matrix *matrix) {
  size_t bytes = rgi_matrix_bytes(grid, type, rows, columns);
  *matrix =
      (rgi_matrix){.grid = grid,
                   .type = type,
                   .element = rgi_type_size(type, 0),
                   .rows = (int)rows,
                   .columns = (int)columns,
                   .local_rows = (int)share(rows, grid->block, grid->row, grid->rows),
                   .local_columns = (int)share(columns, grid->block, grid->column, grid->columns)};
  matrix->ld = matrix->local_rows > 1 ? matrix->local_rows : 1;
  const int descriptor[9] = {
      1, grid->context, matrix->rows, matrix->columns, grid->block, grid->block, 0, 0, matrix->ld};
  memcpy(matrix->descriptor, descriptor, sizeof descriptor);
  size_t width = (size_t)matrix->local_columns, block = (size_t)grid->block;
  matrix->part = bytes <= rgi_memory_free("") ? malloc(bytes + 1) : NULL;
  matrix->panel = malloc(block * width * matrix->element + 1);
  matrix->requests = malloc((width / block + 1) * sizeof *matrix->requests);
  if (!matrix->part || !matrix->panel || !matrix->requests)
    return rgi_error(RG_ERR_NOMEM,
                     "%zu bytes are missing for a process's part of a matrix; more processes "
                     "(ScaLAPACK, options.processes) need less each",
                     bytes);
  return RG_SUCCESS;
}

void rgi_matrix_free(rgi_matrix *matrix) {
  free(matrix->part);
  free(matrix->panel);
  free(matrix->requests);
  matrix->part = matrix->panel = NULL;
  matrix->requests = NULL;
}

/* --- panels ----------------------------------------------------------------------------- */

/* A row of blocks of the part: rows local to local + rows - 1, of the whole from index on. */
typedef struct {
  const rgi_matrix *matrix;
  rg_array a;
  int64_t first, last; /* columns of the whole; column `first` is the array's column 0 */
  int writing;
  int local, rows;
  int64_t index;
} matrix_panel;

#define TRANSPOSE(type)                                                                            \
  do {                                                                                             \
    type *part = (type *)(void *)m->part + panel->local, *elements = (type *)(void *)m->panel;     \
    for (int j = 0; j < m->local_columns; j++)                                                     \
      for (int i = 0; i < panel->rows; i++)                                                        \
        if (panel->writing)                                                                        \
          elements[(int64_t)i * m->local_columns + j] = part[(int64_t)j * m->ld + i];              \
        else                                                                                       \
          part[(int64_t)j * m->ld + i] = elements[(int64_t)i * m->local_columns + j];              \
  } while (0)

typedef struct {
  double real, imaginary;
} wide_complex;

static void transpose(const matrix_panel *panel) {
  const rgi_matrix *m = panel->matrix;
  if (m->element == sizeof(float))
    TRANSPOSE(float);
  else if (m->element == sizeof(double))
    TRANSPOSE(double);
  else
    TRANSPOSE(wide_complex);
}

/* Starts the transfer of the tile at a local column; *request is NULL if there is none. */
static int move_tile(const matrix_panel *panel, int column, int columns, rg_request *request) {
  const rgi_matrix *m = panel->matrix;
  const rgi_process_grid *grid = m->grid;
  int64_t from = rgi_matrix_index(column, grid->block, grid->column, grid->columns);
  int64_t lo[2] = {panel->index, from}, hi[2] = {panel->index + panel->rows, from + columns};
  if (lo[1] < panel->first)
    lo[1] = panel->first;
  if (hi[1] > panel->last)
    hi[1] = panel->last;
  if (lo[1] >= hi[1])
    return RG_SUCCESS;
  char *at = m->panel + (size_t)(column + lo[1] - from) * m->element;
  const int64_t ld = m->local_columns;
  lo[1] -= panel->first;
  hi[1] -= panel->first;
  return panel->writing ? rg_array_iput(panel->a, lo, hi, at, &ld, request)
                        : rg_array_iget(panel->a, lo, hi, at, &ld, request);
}

/* On one column of processes the tiles of a row touch: they are one. */
static int move_panel(const matrix_panel *panel) {
  const rgi_matrix *m = panel->matrix;
  int step = m->grid->columns > 1 ? m->grid->block : m->local_columns, n = 0, code = RG_SUCCESS;
  for (int j = 0; j < m->local_columns && code == RG_SUCCESS; j += step, n++) {
    m->requests[n] = NULL;
    code = move_tile(panel, j, j + step < m->local_columns ? step : m->local_columns - j,
                     &m->requests[n]);
  }
  int waited = rg_wait_all(n, m->requests, NULL);
  return code ? code : waited;
}

static int move_matrix(const rgi_matrix *matrix, int64_t first, int64_t last, rg_array a,
                       int writing) {
  matrix_panel panel = {.matrix = matrix, .a = a, .first = first, .last = last, .writing = writing};
  const rgi_process_grid *grid = matrix->grid;
  for (int i = 0; i < matrix->local_rows; i += grid->block) {
    panel.local = i;
    panel.rows = i + grid->block < matrix->local_rows ? grid->block : matrix->local_rows - i;
    panel.index = rgi_matrix_index(i, grid->block, grid->row, grid->rows);
    if (writing)
      transpose(&panel);
    RGI_TRY(move_panel(&panel));
    if (!writing)
      transpose(&panel);
  }
  return RG_SUCCESS;
}

int rgi_matrix_get(const rgi_matrix *matrix, rg_array a) {
  return move_matrix(matrix, 0, matrix->columns, a, 0);
}

int rgi_matrix_put(const rgi_matrix *matrix, int64_t first, int64_t last, rg_array a) {
  return move_matrix(matrix, first, last, a, 1);
}

void rgi_matrix_clear_above(const rgi_matrix *matrix) {
  const rgi_process_grid *grid = matrix->grid;
  for (int j = 0; j < matrix->local_columns; j++) {
    int64_t column = rgi_matrix_index(j, grid->block, grid->column, grid->columns);
    for (int i = 0; i < matrix->local_rows; i++)
      if (rgi_matrix_index(i, grid->block, grid->row, grid->rows) < column)
        memset(matrix->part + ((size_t)j * (size_t)matrix->ld + (size_t)i) * matrix->element, 0,
               matrix->element);
  }
}
