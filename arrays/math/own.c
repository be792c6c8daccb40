/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 */
#include "math/own.h"

#include <string.h>

#include "distribution/piece.h"

void rgi_own_start(rgi_pieces *own, const rgi_operand *o) {
  rgi_pieces_start_own(own, &o->a->d, o->a->me, o->lo, o->hi);
}

char *rgi_own_memory(const rgi_operand *o, const rgi_piece *piece) {
  return rgi_array_mine(o->a) + piece->offset * (int64_t)o->a->element;
}

static void next_block(rgi_own_lines *l) {
  int last = l->o->a->d.dims - 1;
  l->n = 0;
  if (!rgi_pieces_next(&l->own, &l->piece))
    return;
  rgi_piece_strides(last + 1, l->piece.ld, l->stride);
  memcpy(l->at, l->piece.lo, sizeof l->at);
  l->ptr = rgi_own_memory(l->o, &l->piece);
  l->n = l->piece.hi[last] - l->piece.lo[last];
}

void rgi_own_lines_start(rgi_own_lines *l, const rgi_operand *o) {
  l->o = o;
  rgi_own_start(&l->own, o);
  next_block(l);
}

void rgi_own_lines_next(rgi_own_lines *l) {
  const rgi_piece *p = &l->piece;
  for (int d = l->o->a->d.dims - 2; d >= 0; d--) {
    int64_t step = ++l->at[d] < p->hi[d] ? 1 : 1 - (p->hi[d] - p->lo[d]);
    l->ptr += step * l->stride[d] * (int64_t)l->o->a->element;
    if (step > 0)
      return;
    l->at[d] = p->lo[d];
  }
  next_block(l);
}
