/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Three cases: patches of the same extents, of which each piece is one put or get; transposed ones,
 * moved in tiles that are turned in a buffer; and patches of other extents, where runs that are
 * contiguous in C order are moved as the largest boxes that they contain. */
#include "math/copy_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "distribution/piece.h"
#include "math/own.h"

/* Of a transposition: 128 x 128 doubles fit into a cache. Tiles of longer elements are smaller. */
#define TILE 128
#define TILE_BYTES ((size_t)TILE * TILE * 16)

typedef struct {
  const rgi_operand *mine, *other;
  int pull;
  int64_t tile; /* edge */
} copy_call;

/* Between the patch lo..hi of the other array and the caller's memory. */
static int transfer_box(const copy_call *call, const int64_t lo[], const int64_t hi[], void *memory,
                        const int64_t ld[]) {
  return call->pull ? rg_array_get(call->other->a, lo, hi, memory, ld)
                    : rg_array_put(call->other->a, lo, hi, memory, ld);
}

/* --- the same extents ------------------------------------------------------------------- */

static int same_extents(const rgi_operand *operand, const rgi_operand *other) {
  int same = operand->a->d.dims == other->a->d.dims;
  for (int d = 0; same && d < operand->a->d.dims; d++)
    same = operand->hi[d] - operand->lo[d] == other->hi[d] - other->lo[d];
  return same;
}

static int move_same(const copy_call *call, const rgi_piece *p) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  for (int d = 0; d < call->mine->a->d.dims; d++) {
    lo[d] = p->lo[d] - call->mine->lo[d] + call->other->lo[d];
    hi[d] = p->hi[d] - call->mine->lo[d] + call->other->lo[d];
  }
  return transfer_box(call, lo, hi, rgi_own_memory(call->mine, p), p->ld);
}

/* --- transposed --------------------------------------------------------------------------- */

#define LINE 8 /* in squares of this edge: each cache line is used completely */

/* A matrix in memory: its first element, and elements from row to row. */
typedef struct {
  char *at;
  int64_t ld;
} tile_memory;

/* to[k * to.ld + i] = from[i * from.ld + k] for i < n, k < m. */
#define TRANSPOSE(name, type)                                                                      \
  static void name(int64_t n, int64_t m, tile_memory to, tile_memory from) {                       \
    type *x = (type *)(void *)to.at;                                                               \
    const type *y = (const type *)(const void *)from.at;                                           \
    for (int64_t k0 = 0; k0 < m; k0 += LINE)                                                       \
      for (int64_t i0 = 0; i0 < n; i0 += LINE) {                                                   \
        int64_t k1 = m - k0 < LINE ? m : k0 + LINE, i1 = n - i0 < LINE ? n : i0 + LINE;            \
        for (int64_t k = k0; k < k1; k++)                                                          \
          for (int64_t i = i0; i < i1; i++)                                                        \
            x[k * to.ld + i] = y[i * from.ld + k];                                                 \
      }                                                                                            \
  }
typedef struct {
  uint64_t half[2];
} tile_16_bytes;
TRANSPOSE(transpose_4, uint32_t)
TRANSPOSE(transpose_8, uint64_t)
TRANSPOSE(transpose_16, tile_16_bytes)

static void transpose_tile(size_t element, int64_t n, int64_t m, tile_memory to, tile_memory from) {
  if (element == 4)
    transpose_4(n, m, to, from);
  else if (element == 8)
    transpose_8(n, m, to, from);
  else if (element == 16)
    transpose_16(n, m, to, from);
  else
    for (int64_t k = 0; k < m; k++)
      for (int64_t i = 0; i < n; i++)
        memcpy(to.at + (k * to.ld + i) * (int64_t)element,
               from.at + (i * from.ld + k) * (int64_t)element, element);
}

/* The tile that begins with row i and column k of the caller's piece. */
static int move_tile(const copy_call *call, const rgi_piece *p, int64_t i, int64_t k,
                     char *buffer) {
  size_t element = call->mine->a->element;
  int64_t rows = p->hi[0] - p->lo[0] - i, columns = p->hi[1] - p->lo[1] - k;
  int64_t n = rows < call->tile ? rows : call->tile,
          m = columns < call->tile ? columns : call->tile;
  int64_t down = p->lo[0] + i - call->mine->lo[0], across = p->lo[1] + k - call->mine->lo[1];
  int64_t lo[2] = {call->other->lo[0] + across, call->other->lo[1] + down};
  int64_t hi[2] = {lo[0] + m, lo[1] + n};
  tile_memory turned = {buffer, n};
  tile_memory own = {rgi_own_memory(call->mine, p) + (i * p->ld[0] + k) * (int64_t)element,
                     p->ld[0]};
  if (!call->pull)
    transpose_tile(element, n, m, turned, own);
  RGI_TRY(transfer_box(call, lo, hi, buffer, NULL));
  if (call->pull)
    transpose_tile(element, m, n, own, turned);
  return RG_SUCCESS;
}

static int move_transposed(const copy_call *call, const rgi_piece *p, char *buffer) {
  int64_t rows = p->hi[0] - p->lo[0], columns = p->hi[1] - p->lo[1];
  for (int64_t i = 0; i < rows; i += call->tile)
    for (int64_t k = 0; k < columns; k += call->tile)
      RGI_TRY(move_tile(call, p, i, k, buffer));
  return RG_SUCCESS;
}

/* --- other extents, in C order --------------------------------------------------------------- */

/* Elements start to start + n - 1 of the other patch, counted in C order, which are contiguous
 * in the caller's memory: cut into boxes, each as large as possible. */
static int move_run(const copy_call *call, int64_t start, int64_t n, char *memory) {
  const rgi_operand *operand = call->other;
  while (n > 0) {
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], whole = 1, rest = start;
    int d = operand->a->d.dims - 1;
    for (int i = d; i >= 0; i--) {
      int64_t extent = operand->hi[i] - operand->lo[i];
      lo[i] = operand->lo[i] + rest % extent;
      hi[i] = lo[i] + 1;
      rest /= extent;
    }
    /* From dimension d + 1 on the box is the whole patch. */
    while (d > 0 && lo[d] == operand->lo[d] && n >= whole * (operand->hi[d] - operand->lo[d])) {
      whole *= operand->hi[d] - operand->lo[d];
      hi[d] = operand->hi[d];
      d--;
    }
    int64_t some = n / whole < operand->hi[d] - lo[d] ? n / whole : operand->hi[d] - lo[d];
    hi[d] = lo[d] + some;
    RGI_TRY(transfer_box(call, lo, hi, memory, NULL));
    start += some * whole;
    n -= some * whole;
    memory += some * whole * (int64_t)operand->a->element;
  }
  return RG_SUCCESS;
}

/* The first dimension from which on the piece is contiguous both in memory and in the order of the
 * patch. */
static int run_dimension(const rgi_operand *operand, const rgi_piece *p) {
  int t = operand->a->d.dims - 1;
  while (t > 0 && p->lo[t] == operand->lo[t] && p->hi[t] == operand->hi[t] &&
         p->ld[t - 1] == p->hi[t] - p->lo[t])
    t--;
  return t;
}

static int move_reshaped(const copy_call *call, const rgi_piece *p) {
  const rgi_operand *operand = call->mine;
  int t = run_dimension(operand, p), d;
  int64_t at[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS], n = 1;
  rgi_piece_strides(operand->a->d.dims, p->ld, stride);
  memcpy(at, p->lo, sizeof at);
  for (d = t; d < operand->a->d.dims; d++)
    n *= p->hi[d] - p->lo[d];
  do {
    int64_t start = 0, offset = 0;
    for (d = 0; d < operand->a->d.dims; d++) {
      start = start * (operand->hi[d] - operand->lo[d]) + at[d] - operand->lo[d];
      offset += (at[d] - p->lo[d]) * stride[d];
    }
    RGI_TRY(move_run(call, start, n,
                     rgi_own_memory(operand, p) + offset * (int64_t)operand->a->element));
    for (d = t - 1; d >= 0 && ++at[d] == p->hi[d]; d--)
      at[d] = p->lo[d];
  } while (d >= 0);
  return RG_SUCCESS;
}

/* --- all -------------------------------------------------------------------------------------- */

static int64_t tile_edge(size_t element) {
  int64_t edge = TILE;
  while (edge > 1 && (size_t)(edge * edge) > TILE_BYTES / element)
    edge /= 2;
  return edge;
}

int rgi_copy_own(const rgi_operand *mine, const rgi_operand *other, int pull, int transposed) {
  copy_call call = {mine, other, pull, tile_edge(mine->a->element)};
  int same = same_extents(mine, other), error = RG_SUCCESS;
  rgi_pieces own;
  rgi_piece p;
  char *buffer = transposed ? malloc((size_t)(call.tile * call.tile) * mine->a->element) : NULL;
  if (transposed && !buffer)
    return rgi_error(RG_ERR_NOMEM, "no memory for a transposition");
  for (rgi_own_start(&own, mine); !error && rgi_pieces_next(&own, &p);)
    error = transposed ? move_transposed(&call, &p, buffer)
            : same     ? move_same(&call, &p)
                       : move_reshaped(&call, &p);
  free(buffer);
  return error;
}
