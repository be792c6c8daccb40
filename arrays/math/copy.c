/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying and transposing, also between arrays on different groups, of which one holds the other.
 * The members of the smaller group do the copying: they get their part of the target, or put their
 * part of the source. */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/piece.h"
#include "math/operand.h"
#include "math/own.h"

/* --- copying between a patch and the caller's memory ------------------------------------- */

/* Three cases: patches of the same extents, of which each piece is one put or get; transposed ones,
 * moved in tiles that are turned in a buffer; and patches of other extents, where runs that are
 * contiguous in C order are moved as the largest boxes that they contain. */

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

static int move_same(const copy_call *call, const rgi_piece *piece) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  for (int d = 0; d < call->mine->a->d.dims; d++) {
    lo[d] = piece->lo[d] - call->mine->lo[d] + call->other->lo[d];
    hi[d] = piece->hi[d] - call->mine->lo[d] + call->other->lo[d];
  }
  return transfer_box(call, lo, hi, rgi_own_memory(call->mine, piece), piece->ld);
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

/* The tile that begins with element at[] of the caller's piece: some of its first and of its last
 * dimension. In the other patch the dimensions are in reverse order. */
static int move_tile(const copy_call *call, const rgi_piece *piece, const int64_t at[],
                     char *buffer) {
  size_t element = call->mine->a->element;
  int last = call->mine->a->d.dims - 1;
  int64_t rows = piece->hi[0] - at[0], columns = piece->hi[last] - at[last];
  int64_t n = rows < call->tile ? rows : call->tile,
          m = columns < call->tile ? columns : call->tile;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS], offset = 0;
  rgi_piece_strides(last + 1, piece->ld, stride);
  for (int d = 0; d <= last; d++) {
    lo[last - d] = call->other->lo[last - d] + at[d] - call->mine->lo[d];
    hi[last - d] = lo[last - d] + 1;
    offset += (at[d] - piece->lo[d]) * stride[d];
  }
  hi[0] = lo[0] + m;
  hi[last] = lo[last] + n;
  tile_memory turned = {buffer, n};
  tile_memory own = {rgi_own_memory(call->mine, piece) + offset * (int64_t)element, stride[0]};
  if (!call->pull)
    transpose_tile(element, n, m, turned, own);
  RGI_TRY(transfer_box(call, lo, hi, buffer, NULL));
  if (call->pull)
    transpose_tile(element, m, n, own, turned);
  return RG_SUCCESS;
}

static int move_transposed(const copy_call *call, const rgi_piece *piece, char *buffer) {
  int d, last = call->mine->a->d.dims - 1;
  int64_t at[RG_ARRAY_MAX_DIMS];
  memcpy(at, piece->lo, sizeof at);
  do {
    RGI_TRY(move_tile(call, piece, at, buffer));
    for (d = last; d >= 0; d--) {
      at[d] += d == 0 || d == last ? call->tile : 1;
      if (at[d] < piece->hi[d])
        break;
      at[d] = piece->lo[d];
    }
  } while (d >= 0);
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
static int run_dimension(const rgi_operand *operand, const rgi_piece *piece) {
  int t = operand->a->d.dims - 1;
  while (t > 0 && piece->lo[t] == operand->lo[t] && piece->hi[t] == operand->hi[t] &&
         piece->ld[t - 1] == piece->hi[t] - piece->lo[t])
    t--;
  return t;
}

static int move_reshaped(const copy_call *call, const rgi_piece *piece) {
  const rgi_operand *operand = call->mine;
  int t = run_dimension(operand, piece), d;
  int64_t at[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS], n = 1;
  rgi_piece_strides(operand->a->d.dims, piece->ld, stride);
  memcpy(at, piece->lo, sizeof at);
  for (d = t; d < operand->a->d.dims; d++)
    n *= piece->hi[d] - piece->lo[d];
  do {
    int64_t start = 0, offset = 0;
    for (d = 0; d < operand->a->d.dims; d++) {
      start = start * (operand->hi[d] - operand->lo[d]) + at[d] - operand->lo[d];
      offset += (at[d] - piece->lo[d]) * stride[d];
    }
    RGI_TRY(move_run(call, start, n,
                     rgi_own_memory(operand, piece) + offset * (int64_t)operand->a->element));
    for (d = t - 1; d >= 0 && ++at[d] == piece->hi[d]; d--)
      at[d] = piece->lo[d];
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

/* Gets the caller's part of `mine` from `other` (pull), or puts it there. The two patches have
 * equally many elements, which correspond in C order, or one is the other transposed. */
static int copy_own(const rgi_operand *mine, const rgi_operand *other, int pull, int transposed) {
  copy_call call = {
      .mine = mine, .other = other, .pull = pull, .tile = tile_edge(mine->a->element)};
  int same = same_extents(mine, other), error = RG_SUCCESS;
  rgi_pieces own;
  rgi_piece piece;
  char *buffer = transposed ? malloc((size_t)(call.tile * call.tile) * mine->a->element) : NULL;
  if (transposed && !buffer)
    return rgi_error(RG_ERR_NOMEM, "no memory for a transposition");
  for (rgi_own_start(&own, mine); !error && rgi_pieces_next(&own, &piece);)
    error = transposed ? move_transposed(&call, &piece, buffer)
            : same     ? move_same(&call, &piece)
                       : move_reshaped(&call, &piece);
  free(buffer);
  return error;
}

/* A copy as the caller knows it: with both operands, or only the one on whose group it is. */
typedef struct {
  const char *call;
  int whole, transposed;
  rg_array a, b;
  rgi_operand from, to;
  int together; /* the groups have the same members */
  int pull;     /* a's group has all members of b's: b's get */
} copy_request;

static int check_shapes(const copy_request *copying) {
  const rgi_operand *from = &copying->from, *to = &copying->to;
  int dims = from->a->d.dims, t = copying->transposed;
  if (from->a->type != to->a->type || from->a->element != to->a->element)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are of different types", copying->call);
  if (t && dims < 2)
    return rgi_error(RG_ERR_ARG, "%s: an array of 1 dimension cannot be transposed", copying->call);
  if ((t || copying->whole) && dims != to->a->d.dims)
    return rgi_error(RG_ERR_ARG, "%s: %d dimensions against %d", copying->call, dims,
                     to->a->d.dims);
  for (int d = 0; (t || copying->whole) && d < dims; d++) {
    int e = t ? dims - 1 - d : d;
    int64_t x = from->hi[d] - from->lo[d], y = to->hi[e] - to->lo[e];
    if (x != y)
      return rgi_error(RG_ERR_ARG,
                       "%s: %lld elements in dimension %d, but %lld in dimension %d of the target",
                       copying->call, (long long)x, d, (long long)y, e);
  }
  int64_t n = rgi_operand_count(from), m = rgi_operand_count(to);
  if (n != m)
    return rgi_error(RG_ERR_ARG, "%s: one patch has %lld elements, the other %lld", copying->call,
                     (long long)n, (long long)m);
  if (t && n > 0 && rgi_operands_same(from, to))
    return rgi_error(RG_ERR_ARG, "%s: a patch cannot be transposed onto itself", copying->call);
  return rgi_operands_apart(copying->call, from, to);
}

/* Whether every member of `part` is in `all`. */
static int holds_members(rg_group all, rg_group part) {
  int n, there = 0;
  if (rg_group_size(part, &n) != RG_SUCCESS)
    return 0;
  for (int i = 0; i < n; i++)
    if (rg_group_translate(part, 1, &i, all, &there) != RG_SUCCESS || there == RG_UNDEFINED)
      return 0;
  return 1;
}

static int check_groups(copy_request *copying) {
  int how = RG_IDENT;
  if (copying->a != copying->b)
    RGI_TRY(rg_group_compare(copying->a->group, copying->b->group, &how));
  copying->together = how != RG_UNEQUAL;
  copying->pull = copying->together || holds_members(copying->a->group, copying->b->group);
  if (!copying->pull && !holds_members(copying->b->group, copying->a->group))
    return rgi_error(RG_ERR_GROUP, "%s: neither array's group holds the other's members",
                     copying->call);
  return RG_SUCCESS;
}

static int check_copy(copy_request *copying, const int64_t alo[], const int64_t ahi[],
                      const int64_t blo[], const int64_t bhi[]) {
  if (copying->a)
    RGI_TRY(rgi_operand_make(copying->call, copying->a, alo, ahi, &copying->from));
  if (copying->b)
    RGI_TRY(rgi_operand_make(copying->call, copying->b, blo, bhi, &copying->to));
  if (!copying->a || !copying->b)
    return RG_SUCCESS;
  RGI_TRY(check_groups(copying));
  return check_shapes(copying);
}

/* On groups of different members: agrees on the error first on a's group, then on b's. The members
 * that are in both have checked all arguments, and carry their result from one to the other. */
static int agree_on_both(const copy_request *copying, int error) {
  for (int i = 0; i < 2; i++) {
    rg_array x = i ? copying->b : copying->a;
    if (!x)
      continue;
    char where[64];
    snprintf(where, sizeof where, "%s: in the %s's group", copying->call, i ? "target" : "source");
    int64_t mine[2] = {rgi_group_error_word(x->group, error), copying->a && copying->b}, all[2];
    RGI_TRY(rg_allreduce(x->group, mine, all, 2, MPI_INT64_T, MPI_MAX));
    if (all[0])
      error = rgi_group_error_tell(x->group, where, all[0], error);
    else if (!all[1])
      error =
          rgi_error(RG_ERR_GROUP, "%s: no process is in the groups of both arrays", copying->call);
  }
  return error;
}

static int fence_both(const copy_request *copying) {
  if (copying->a && !copying->a->confirmed)
    RGI_TRY(rgi_array_confirm(copying->call, copying->a));
  if (copying->b && !copying->b->confirmed)
    RGI_TRY(rgi_array_confirm(copying->call, copying->b));
  return rg_array_fence(NULL);
}

static int copy_elements(const copy_request *copying) {
  if (!copying->a || !copying->b)
    return RG_SUCCESS;
  if (rgi_operand_count(&copying->from) == 0 || rgi_operands_same(&copying->from, &copying->to))
    return RG_SUCCESS;
  return copying->pull ? copy_own(&copying->to, &copying->from, 1, copying->transposed)
                       : copy_own(&copying->from, &copying->to, 0, copying->transposed);
}

static int copy_arrays(copy_request *copying, const int64_t alo[], const int64_t ahi[],
                       const int64_t blo[], const int64_t bhi[]) {
  if (!copying->a && !copying->b)
    return rgi_error(RG_ERR_ARRAY, "%s: both arrays are NULL", copying->call);
  if (copying->a)
    RGI_TRY(rgi_array_check(copying->call, copying->a));
  if (copying->b)
    RGI_TRY(rgi_array_check(copying->call, copying->b));
  int error = check_copy(copying, alo, ahi, blo, bhi);
  if (copying->together) {
    const rgi_operand both[2] = {copying->from, copying->to};
    RGI_TRY(error);
    RGI_TRY(rgi_operands_begin(copying->call, 2, both));
    return rgi_operands_end(copying->call, 2, both, copy_elements(copying));
  }
  if (!error)
    error = fence_both(copying);
  RGI_TRY(agree_on_both(copying, error));
  error = copy_elements(copying);
  if (!error)
    error = fence_both(copying);
  return agree_on_both(copying, error);
}

int rg_array_copy(rg_array a, rg_array b) {
  copy_request c = {.call = __func__, .whole = 1, .a = a, .b = b};
  return copy_arrays(&c, NULL, NULL, NULL, NULL);
}

int rg_array_copy_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                        const int64_t blo[], const int64_t bhi[], int transposed) {
  copy_request c = {.call = __func__, .transposed = transposed != 0, .a = a, .b = b};
  return copy_arrays(&c, alo, ahi, blo, bhi);
}

int rg_array_transpose(rg_array a, rg_array b) {
  copy_request c = {.call = __func__, .transposed = 1, .a = a, .b = b};
  return copy_arrays(&c, NULL, NULL, NULL, NULL);
}
