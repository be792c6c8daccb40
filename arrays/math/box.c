/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each block of the first operand that the caller owns is cut by the blocks of the second, these
 * boxes by those of the third: within a box every operand is one piece. Whole arrays that are
 * dealt out alike are one box. Elements of another node
 * are got into a buffer of bounded size; a box that does not fit is halved along its longest
 * dimension. */
#include "math/box.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "math/own.h"

#define FETCH ((int64_t)1 << 20) /* bytes that are got from another node at once */

/* --- boxes of several operands --------------------------------------------------------- */

typedef struct {
  int n;
  const rgi_operand *o;
  rgi_box_function *f;
  void *context;
  int axes[RGI_BOX_OPERANDS][RG_ARRAY_MAX_DIMS];
  char *buffer[RGI_BOX_OPERANDS];
  rgi_box box;
} traversal;

/* The elements with lo <= index < hi, in dimensions of the box or of an array. */
typedef struct {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
} box_bounds;

/* A box has those dimensions in which the patch is longer than 1, and is counted from the start of
 * the patch. These two convert its bounds to indices of the operand's array, and back. */
static box_bounds to_array(const traversal *t, int k, const int64_t lo[], const int64_t hi[]) {
  const rgi_operand *o = &t->o[k];
  box_bounds a;
  memcpy(a.lo, o->lo, sizeof o->lo);
  memcpy(a.hi, o->hi, sizeof o->hi);
  for (int i = 0; i < t->box.dims; i++) {
    int d = t->axes[k][i];
    a.lo[d] = o->lo[d] + lo[i];
    a.hi[d] = o->lo[d] + hi[i];
  }
  return a;
}

static box_bounds to_box(const traversal *t, int k, const rgi_piece *piece) {
  box_bounds b;
  for (int i = 0; i < t->box.dims; i++) {
    int d = t->axes[k][i];
    b.lo[i] = piece->lo[d] - t->o[k].lo[d];
    b.hi[i] = piece->hi[d] - t->o[k].lo[d];
  }
  return b;
}

static void place_operand(traversal *t, int k, char *memory, const int64_t ld[]) {
  int64_t stride[RG_ARRAY_MAX_DIMS];
  rgi_piece_strides(t->o[k].a->d.dims, ld, stride);
  t->box.at[k] = memory;
  for (int i = 0; i < t->box.dims; i++)
    t->box.stride[k][i] = stride[t->axes[k][i]];
}

static int visit_operand(traversal *t, int k, const int64_t lo[], const int64_t hi[]);

/* Operands 0 to k are in place. After the last one the box is complete. */
static int visit_next(traversal *t, int k, const int64_t lo[], const int64_t hi[]) {
  if (k + 1 < t->n)
    return visit_operand(t, k + 1, lo, hi);
  for (int i = 0; i < t->box.dims; i++)
    t->box.extent[i] = hi[i] - lo[i];
  return t->f(t->context, &t->box);
}

/* Moves the operands before k from the start of the box lo to that of its part plo, or back. */
static void shift_operands(traversal *t, int k, const int64_t lo[], const int64_t plo[], int sign) {
  for (int j = 0; j < k; j++)
    for (int i = 0; i < t->box.dims; i++)
      t->box.at[j] += sign * (plo[i] - lo[i]) * t->box.stride[j][i] * (int64_t)t->box.element;
}

/* Operand k in a box of another node, in parts that fit into the buffer. */
static int fetch_operand(traversal *t, int k, const int64_t lo[], const int64_t hi[]) {
  int64_t bytes = (int64_t)t->box.element, part[RG_ARRAY_MAX_DIMS], end[RG_ARRAY_MAX_DIMS];
  int longest = 0;
  for (int i = 0; i < t->box.dims; i++) {
    bytes *= hi[i] - lo[i];
    longest = hi[i] - lo[i] > hi[longest] - lo[longest] ? i : longest;
  }
  if (bytes > FETCH && t->box.dims && hi[longest] - lo[longest] > 1) {
    memcpy(part, lo, sizeof part);
    memcpy(end, hi, sizeof end);
    part[longest] = end[longest] = lo[longest] + (hi[longest] - lo[longest]) / 2;
    RGI_TRY(fetch_operand(t, k, lo, end));
    shift_operands(t, k, lo, part, 1);
    int error = fetch_operand(t, k, part, hi);
    shift_operands(t, k, lo, part, -1);
    return error;
  }
  int64_t ld[RG_ARRAY_MAX_DIMS];
  if (!t->buffer[k])
    t->buffer[k] = malloc((size_t)(bytes > FETCH ? bytes : FETCH));
  if (!t->buffer[k])
    return rgi_error(RG_ERR_NOMEM, "no memory for elements of another node");
  box_bounds in = to_array(t, k, lo, hi);
  for (int d = 1; d < t->o[k].a->d.dims; d++)
    ld[d - 1] = in.hi[d] - in.lo[d];
  RGI_TRY(rg_array_get(t->o[k].a, in.lo, in.hi, t->buffer[k], NULL));
  place_operand(t, k, t->buffer[k], ld);
  return visit_next(t, k, lo, hi);
}

/* Operand k in the box, piece by piece. */
static int visit_operand(traversal *t, int k, const int64_t lo[], const int64_t hi[]) {
  rg_array a = t->o[k].a;
  rgi_pieces pieces;
  rgi_piece piece;
  box_bounds in = to_array(t, k, lo, hi);
  rgi_pieces_start(&pieces, &a->d, in.lo, in.hi);
  while (rgi_pieces_next(&pieces, &piece)) {
    char *memory = rgi_array_memory(a, piece.rank);
    box_bounds part = to_box(t, k, &piece);
    shift_operands(t, k, lo, part.lo, 1);
    int error;
    if (memory) {
      place_operand(t, k, memory + piece.offset * (int64_t)a->element, piece.ld);
      error = visit_next(t, k, part.lo, part.hi);
    } else {
      error = fetch_operand(t, k, part.lo, part.hi);
    }
    shift_operands(t, k, lo, part.lo, -1);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

static int same_cycles(const rgi_distribution *d, const rgi_distribution *e) {
  int same = d->dims == e->dims && e->layout == RG_LAYOUT_BLOCK_CYCLIC;
  for (int i = 0; same && i < d->dims; i++)
    same = d->shape[i] == e->shape[i] && d->chunk[i] == e->chunk[i] && d->grid[i] == e->grid[i];
  return same;
}

/* Whether all operands are whole arrays whose blocks lie alike in the caller's memory. */
static int are_alike(int n, const rgi_operand o[]) {
  const rg_array first = o[0].a;
  if (first->d.layout != RG_LAYOUT_BLOCK_CYCLIC)
    return 0;
  for (int k = 0; k < n; k++)
    if (!rgi_operand_is_whole(&o[k]) || o[k].a->me != first->me ||
        !same_cycles(&first->d, &o[k].a->d))
      return 0;
  return 1;
}

/* Blocks of a cyclic layout have no ghost cells: however many and short, they are one run. */
static int visit_run(traversal *t) {
  t->box.dims = 1;
  t->box.extent[0] = rgi_distribution_extent(&t->o[0].a->d, t->o[0].a->me);
  for (int k = 0; k < t->n; k++) {
    t->box.at[k] = rgi_array_mine(t->o[k].a);
    t->box.stride[k][0] = 1;
  }
  return t->box.extent[0] ? t->f(t->context, &t->box) : RG_SUCCESS;
}

int rgi_box_each(int n, const rgi_operand o[], rgi_box_function *f, void *context) {
  traversal t = {.n = n, .o = o, .f = f, .context = context};
  rgi_pieces own;
  rgi_piece piece;
  int error = RG_SUCCESS;
  t.box.operands = n;
  t.box.element = o[0].a->element;
  if (are_alike(n, o))
    return visit_run(&t);
  for (int k = 0; k < n; k++)
    t.box.dims = rgi_operand_axes(&o[k], t.axes[k]);
  for (rgi_own_start(&own, &o[0]); !error && rgi_pieces_next(&own, &piece);) {
    box_bounds part = to_box(&t, 0, &piece);
    place_operand(&t, 0, rgi_own_memory(&o[0], &piece), piece.ld);
    error = visit_next(&t, 0, part.lo, part.hi);
  }
  for (int k = 0; k < n; k++)
    free(t.buffer[k]);
  return error;
}

/* --- rows --------------------------------------------------------------------------------- */

/* Whether dimension i of the box and the next one are contiguous in all operands. */
static int are_joined(const rgi_box *b, int i) {
  for (int k = 0; k < b->operands; k++)
    if (b->stride[k][i] != b->extent[i + 1] * b->stride[k][i + 1])
      return 0;
  return 1;
}

static void join_dimensions(rgi_box *b, int i) {
  b->extent[i] *= b->extent[i + 1];
  for (int k = 0; k < b->operands; k++)
    b->stride[k][i] = b->stride[k][i + 1];
  for (int j = i + 1; j + 1 < b->dims; j++) {
    b->extent[j] = b->extent[j + 1];
    for (int k = 0; k < b->operands; k++)
      b->stride[k][j] = b->stride[k][j + 1];
  }
  b->dims--;
}

static int side_by_side(const rgi_box *b) {
  for (int k = 0; k < b->operands; k++)
    if (b->dims == 0 || b->stride[k][b->dims - 1] != 1)
      return 0;
  return 1;
}

void rgi_box_rows_start(rgi_box_rows *r, const rgi_box *box) {
  r->box = *box;
  for (int i = r->box.dims - 2; i >= 0; i--)
    if (are_joined(&r->box, i))
      join_dimensions(&r->box, i);
  memcpy(r->at, box->at, sizeof r->at);
  memset(r->i, 0, sizeof r->i);
  r->n = 1;
  if (side_by_side(&r->box))
    r->n = r->box.extent[--r->box.dims];
}

void rgi_box_rows_next(rgi_box_rows *r) {
  rgi_box *b = &r->box;
  for (int d = b->dims - 1; d >= 0; d--) {
    int64_t step = ++r->i[d] < b->extent[d] ? 1 : 1 - b->extent[d];
    for (int k = 0; k < b->operands; k++)
      r->at[k] += step * b->stride[k][d] * (int64_t)b->element;
    if (step > 0)
      return;
    r->i[d] = 0;
  }
  r->n = 0;
}
