/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each block of the first operand that the caller owns is cut by the blocks of the second, these
 * boxes by those of the third, and so on: within a box every operand is one piece. Whole arrays
 * that are dealt out alike are one box. Elements of another node are got into a buffer of bounded
 * size; a box that does not fit is halved along its longest dimension. */
#include "math/box.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "math/own.h"

#define FETCH ((int64_t)1 << 20) /* bytes that are got from another node at once */

/* Corresponding boxes of elements of the operands. */
typedef struct {
  int operands, dims;
  size_t element; /* bytes */
  int64_t extent[RG_ARRAY_MAX_DIMS];
  char *at[RGI_BOX_OPERANDS];                          /* the first element */
  int64_t stride[RGI_BOX_OPERANDS][RG_ARRAY_MAX_DIMS]; /* in elements */
} joined_box;

typedef struct {
  int n;
  const rgi_operand *o;
  rgi_box_row *row;
  void *context;
  int axes[RGI_BOX_OPERANDS][RG_ARRAY_MAX_DIMS];
  char *buffer[RGI_BOX_OPERANDS];
  joined_box box;
} traversal;

/* --- the rows of a box ------------------------------------------------------------------- */

/* Whether dimension i of the box and the next one are contiguous in all operands. */
static int are_joined(const joined_box *box, int i) {
  for (int k = 0; k < box->operands; k++)
    if (box->stride[k][i] != box->extent[i + 1] * box->stride[k][i + 1])
      return 0;
  return 1;
}

static void join_dimensions(joined_box *box, int i) {
  box->extent[i] *= box->extent[i + 1];
  for (int k = 0; k < box->operands; k++)
    box->stride[k][i] = box->stride[k][i + 1];
  for (int j = i + 1; j + 1 < box->dims; j++) {
    box->extent[j] = box->extent[j + 1];
    for (int k = 0; k < box->operands; k++)
      box->stride[k][j] = box->stride[k][j + 1];
  }
  box->dims--;
}

static int side_by_side(const joined_box *box) {
  for (int k = 0; k < box->operands; k++)
    if (box->dims == 0 || box->stride[k][box->dims - 1] != 1)
      return 0;
  return 1;
}

/* To the next row. 0: that was the last one. */
static int next_row(joined_box *box, int64_t i[]) {
  for (int d = box->dims - 1; d >= 0; d--) {
    int64_t step = ++i[d] < box->extent[d] ? 1 : 1 - box->extent[d];
    for (int k = 0; k < box->operands; k++)
      box->at[k] += step * box->stride[k][d] * (int64_t)box->element;
    if (step > 0)
      return 1;
    i[d] = 0;
  }
  return 0;
}

static int visit_rows(const traversal *walk) {
  joined_box b = walk->box;
  int64_t i[RG_ARRAY_MAX_DIMS] = {0}, n = 1;
  for (int d = b.dims - 2; d >= 0; d--)
    if (are_joined(&b, d))
      join_dimensions(&b, d);
  if (side_by_side(&b))
    n = b.extent[--b.dims];
  do
    walk->row(walk->context, n, b.at);
  while (next_row(&b, i));
  return RG_SUCCESS;
}

/* --- boxes of several operands --------------------------------------------------------- */

/* The elements with lo <= index < hi, in dimensions of the box or of an array. */
typedef struct {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
} box_bounds;

/* A box has those dimensions in which the patch is longer than 1, and is counted from the start of
 * the patch. These two convert its bounds to indices of the operand's array, and back. */
static box_bounds to_array(const traversal *walk, int k, const int64_t lo[], const int64_t hi[]) {
  const rgi_operand *operand = &walk->o[k];
  box_bounds a;
  memcpy(a.lo, operand->lo, sizeof operand->lo);
  memcpy(a.hi, operand->hi, sizeof operand->hi);
  for (int i = 0; i < walk->box.dims; i++) {
    int d = walk->axes[k][i];
    a.lo[d] = operand->lo[d] + lo[i];
    a.hi[d] = operand->lo[d] + hi[i];
  }
  return a;
}

static box_bounds to_box(const traversal *walk, int k, const rgi_piece *piece) {
  box_bounds b;
  for (int i = 0; i < walk->box.dims; i++) {
    int d = walk->axes[k][i];
    b.lo[i] = piece->lo[d] - walk->o[k].lo[d];
    b.hi[i] = piece->hi[d] - walk->o[k].lo[d];
  }
  return b;
}

static void place_operand(traversal *walk, int k, char *memory, const int64_t ld[]) {
  int64_t stride[RG_ARRAY_MAX_DIMS];
  rgi_piece_strides(walk->o[k].a->d.dims, ld, stride);
  walk->box.at[k] = memory;
  for (int i = 0; i < walk->box.dims; i++)
    walk->box.stride[k][i] = stride[walk->axes[k][i]];
}

static int visit_operand(traversal *walk, int k, const int64_t lo[], const int64_t hi[]);

/* Operands 0 to k are in place. After the last one the box is complete. */
static int visit_next(traversal *walk, int k, const int64_t lo[], const int64_t hi[]) {
  if (k + 1 < walk->n)
    return visit_operand(walk, k + 1, lo, hi);
  for (int i = 0; i < walk->box.dims; i++)
    walk->box.extent[i] = hi[i] - lo[i];
  return visit_rows(walk);
}

/* Moves the operands before k from the start of the box lo to that of its part plo, or back. */
static void shift_operands(traversal *walk, int k, const int64_t lo[], const int64_t plo[],
                           int sign) {
  for (int j = 0; j < k; j++)
    for (int i = 0; i < walk->box.dims; i++)
      walk->box.at[j] +=
          sign * (plo[i] - lo[i]) * walk->box.stride[j][i] * (int64_t)walk->box.element;
}

/* Operand k in a box of another node, in parts that fit into the buffer. */
static int fetch_operand(traversal *walk, int k, const int64_t lo[], const int64_t hi[]) {
  int64_t bytes = (int64_t)walk->box.element, part[RG_ARRAY_MAX_DIMS], end[RG_ARRAY_MAX_DIMS];
  int longest = 0;
  for (int i = 0; i < walk->box.dims; i++) {
    bytes *= hi[i] - lo[i];
    longest = hi[i] - lo[i] > hi[longest] - lo[longest] ? i : longest;
  }
  if (bytes > FETCH && walk->box.dims && hi[longest] - lo[longest] > 1) {
    memcpy(part, lo, sizeof part);
    memcpy(end, hi, sizeof end);
    part[longest] = end[longest] = lo[longest] + (hi[longest] - lo[longest]) / 2;
    RGI_TRY(fetch_operand(walk, k, lo, end));
    shift_operands(walk, k, lo, part, 1);
    int error = fetch_operand(walk, k, part, hi);
    shift_operands(walk, k, lo, part, -1);
    return error;
  }
  int64_t ld[RG_ARRAY_MAX_DIMS];
  if (!walk->buffer[k])
    walk->buffer[k] = malloc((size_t)(bytes > FETCH ? bytes : FETCH));
  if (!walk->buffer[k])
    return rgi_error(RG_ERR_NOMEM, "no memory for elements of another node");
  box_bounds in = to_array(walk, k, lo, hi);
  for (int d = 1; d < walk->o[k].a->d.dims; d++)
    ld[d - 1] = in.hi[d] - in.lo[d];
  RGI_TRY(rg_array_get(walk->o[k].a, in.lo, in.hi, walk->buffer[k], NULL));
  place_operand(walk, k, walk->buffer[k], ld);
  return visit_next(walk, k, lo, hi);
}

/* Operand k in the box, piece by piece. */
static int visit_operand(traversal *walk, int k, const int64_t lo[], const int64_t hi[]) {
  rg_array a = walk->o[k].a;
  rgi_pieces pieces;
  rgi_piece piece;
  box_bounds in = to_array(walk, k, lo, hi);
  rgi_pieces_start(&pieces, &a->d, in.lo, in.hi);
  while (rgi_pieces_next(&pieces, &piece)) {
    char *memory = rgi_array_memory(a, piece.rank);
    box_bounds part = to_box(walk, k, &piece);
    shift_operands(walk, k, lo, part.lo, 1);
    int error;
    if (memory) {
      place_operand(walk, k, memory + piece.offset * (int64_t)a->element, piece.ld);
      error = visit_next(walk, k, part.lo, part.hi);
    } else {
      error = fetch_operand(walk, k, part.lo, part.hi);
    }
    shift_operands(walk, k, lo, part.lo, -1);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

static int same_cycles(const rgi_distribution *layout, const rgi_distribution *other) {
  int same = layout->dims == other->dims && layout->layout == other->layout;
  for (int i = 0; same && i < layout->dims; i++)
    same = layout->shape[i] == other->shape[i] && layout->chunk[i] == other->chunk[i] &&
           layout->grid[i] == other->grid[i];
  return same;
}

/* Whether all operands are whole arrays whose blocks lie alike in the caller's memory. */
static int are_alike(int n, const rgi_operand operand[]) {
  const rg_array first = operand[0].a;
  if (!rgi_distribution_is_cyclic(&first->d))
    return 0;
  for (int k = 0; k < n; k++)
    if (!rgi_operand_is_whole(&operand[k]) || operand[k].a->me != first->me ||
        !same_cycles(&first->d, &operand[k].a->d))
      return 0;
  return 1;
}

/* Blocks of a cyclic layout have no ghost cells: however many and short, they are one run. */
static int visit_run(traversal *walk) {
  walk->box.dims = 1;
  walk->box.extent[0] = rgi_distribution_extent(&walk->o[0].a->d, walk->o[0].a->me);
  for (int k = 0; k < walk->n; k++) {
    walk->box.at[k] = rgi_array_mine(walk->o[k].a);
    walk->box.stride[k][0] = 1;
  }
  return walk->box.extent[0] ? visit_rows(walk) : RG_SUCCESS;
}

int rgi_box_rows(int n, const rgi_operand operand[], rgi_box_row *row, void *context) {
  traversal walk = {.n = n, .o = operand, .row = row, .context = context};
  rgi_pieces own;
  rgi_piece piece;
  int error = RG_SUCCESS;
  walk.box.operands = n;
  walk.box.element = operand[0].a->element;
  if (are_alike(n, operand))
    return visit_run(&walk);
  for (int k = 0; k < n; k++)
    walk.box.dims = rgi_operand_axes(&operand[k], walk.axes[k]);
  for (rgi_own_start(&own, &operand[0]); !error && rgi_pieces_next(&own, &piece);) {
    box_bounds part = to_box(&walk, 0, &piece);
    place_operand(&walk, 0, rgi_own_memory(&operand[0], &piece), piece.ld);
    error = visit_next(&walk, 0, part.lo, part.hi);
  }
  for (int k = 0; k < n; k++)
    free(walk.buffer[k]);
  return error;
}
