/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * a = (a + transpose of a) / 2 in place. The owner of an element below the diagonal computes the
 * mean for it and for the one that it is mirrored to, which nobody else touches. Its blocks are cut
 * into tiles that are wholly below the diagonal. */
#include <regroup/array_math.h>
#include <stdlib.h>

#include "base/error.h"
#include "distribution/type.h"
#include "math/diagonal.h"
#include "math/typed_loops.h"

enum { TILE = 64 }; /* elements along an edge */

/* Rows i0 to i1 - 1 and columns j0 to j1 - 1. */
typedef struct {
  int64_t i0, i1, j0, j1;
} tile_bounds;

/* The caller's elements of a tile, ld elements from row to row, and the mirrored tile. */
typedef void mean_loop(const tile_bounds *tile, char *own, int64_t ld, char *mirrored);
#define MEAN(TYPE, name, type, work)                                                               \
  static void mean_##name(const tile_bounds *tile, char *own, int64_t ld, char *mirrored) {        \
    type *x = (type *)(void *)own, *y = (type *)(void *)mirrored;                                  \
    const int64_t rows = tile->i1 - tile->i0, columns = tile->j1 - tile->j0;                       \
    for (int64_t i = 0; i < rows; i++)                                                             \
      for (int64_t j = 0; j < columns; j++) {                                                      \
        const type mean = (type)(0.5F * (x[i * ld + j] + y[j * rows + i]));                        \
        x[i * ld + j] = y[j * rows + i] = mean;                                                    \
      }                                                                                            \
  }
RGI_EACH_REAL(MEAN)
RGI_EACH_COMPLEX(MEAN)
#define ENTRY(TYPE, name, type, work) [TYPE] = mean_##name,
static mean_loop *const loops[RG_TYPE_COUNT] = {RGI_EACH_REAL(ENTRY) RGI_EACH_COMPLEX(ENTRY)};

typedef struct {
  rg_array a;
  rgi_piece piece;
  char *memory; /* of the piece */
  char *mirrored;
} symmetrizing;

static int mean_of_tile(const symmetrizing *call, const tile_bounds *tile) {
  rg_array a = call->a;
  const int64_t lo[2] = {tile->j0, tile->i0}, hi[2] = {tile->j1, tile->i1}, ld = call->piece.ld[0];
  char *own = call->memory + ((tile->i0 - call->piece.lo[0]) * ld + tile->j0 - call->piece.lo[1]) *
                                 (int64_t)a->element;
  RGI_TRY(rg_array_get(a, lo, hi, call->mirrored, NULL));
  loops[a->type](tile, own, ld, call->mirrored);
  return rg_array_put(a, lo, hi, call->mirrored, NULL);
}

/* Those elements of the tile that are below the diagonal. */
static int mean_below(const symmetrizing *call, const tile_bounds *tile) {
  int64_t rows = tile->i1 - tile->i0, columns = tile->j1 - tile->j0;
  if (tile->i1 - 1 <= tile->j0)
    return RG_SUCCESS;
  if (tile->i0 >= tile->j1 && rows <= TILE && columns <= TILE)
    return mean_of_tile(call, tile);
  tile_bounds first = *tile, second = *tile;
  if (rows >= columns)
    first.i1 = second.i0 = tile->i0 + rows / 2;
  else
    first.j1 = second.j0 = tile->j0 + columns / 2;
  RGI_TRY(mean_below(call, &first));
  return mean_below(call, &second);
}

static int mean_of_blocks(const rgi_operand *operand) {
  symmetrizing call = {.a = operand->a};
  rgi_pieces own;
  int error = RG_SUCCESS;
  call.mirrored = malloc(TILE * TILE * operand->a->element);
  if (!call.mirrored)
    return rgi_error(RG_ERR_NOMEM, "no memory for a tile");
  for (rgi_own_start(&own, operand); !error && rgi_pieces_next(&own, &call.piece);) {
    const rgi_piece *piece = &call.piece;
    call.memory = rgi_own_memory(operand, piece);
    error =
        mean_below(&call, &(tile_bounds){piece->lo[0], piece->hi[0], piece->lo[1], piece->hi[1]});
  }
  free(call.mirrored);
  return error;
}

int rg_array_symmetrize(rg_array a) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_TRY(rgi_diagonal_check(__func__, &operand));
  if (!loops[a->type])
    return rgi_error(RG_ERR_ARG, "%s: the elements are neither real nor complex", __func__);
  if (a->d.shape[0] != a->d.shape[1])
    return rgi_error(RG_ERR_ARG, "%s: %lld rows, but %lld columns", __func__,
                     (long long)a->d.shape[0], (long long)a->d.shape[1]);
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return rgi_operands_end(__func__, 1, &operand, mean_of_blocks(&operand));
}
