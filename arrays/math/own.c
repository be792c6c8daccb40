/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A member's blocks in the order of their numbers, each cut to the patch. */
#include "math/own.h"

#include <string.h>

#include "distribution/distribution_owner.h"
#include "distribution/piece.h"

void rgi_own_start(rgi_own *own, const rgi_operand *o) {
  own->o = o;
  own->next = 0;
  own->count = rgi_distribution_blocks(&o->a->d, o->a->me);
}

int rgi_own_next(rgi_own *own, rgi_piece *piece) {
  const rgi_operand *o = own->o;
  const rgi_distribution *d = &o->a->d;
  while (own->next < own->count) {
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    int any = 1;
    rgi_distribution_block(d, o->a->me, own->next++, lo, hi);
    for (int i = 0; i < d->dims; i++) {
      lo[i] = lo[i] > o->lo[i] ? lo[i] : o->lo[i];
      hi[i] = hi[i] < o->hi[i] ? hi[i] : o->hi[i];
      any = any && lo[i] < hi[i];
    }
    if (any) {
      rgi_pieces pieces;
      rgi_pieces_start(&pieces, d, lo, hi);
      return rgi_pieces_next(&pieces, piece);
    }
  }
  return 0;
}

char *rgi_own_memory(const rgi_operand *o, const rgi_piece *piece) {
  return rgi_array_mine(o->a) + piece->offset * (int64_t)o->a->element;
}

static void next_block(rgi_own_lines *l) {
  int last = l->own.o->a->d.dims - 1;
  l->n = 0;
  if (!rgi_own_next(&l->own, &l->piece))
    return;
  rgi_piece_strides(last + 1, l->piece.ld, l->stride);
  memcpy(l->at, l->piece.lo, sizeof l->at);
  l->ptr = rgi_own_memory(l->own.o, &l->piece);
  l->n = l->piece.hi[last] - l->piece.lo[last];
}

void rgi_own_lines_start(rgi_own_lines *l, const rgi_operand *o) {
  rgi_own_start(&l->own, o);
  next_block(l);
}

void rgi_own_lines_next(rgi_own_lines *l) {
  const rgi_piece *p = &l->piece;
  for (int d = l->own.o->a->d.dims - 2; d >= 0; d--) {
    int64_t step = ++l->at[d] < p->hi[d] ? 1 : 1 - (p->hi[d] - p->lo[d]);
    l->ptr += step * l->stride[d] * (int64_t)l->own.o->a->element;
    if (step > 0)
      return;
    l->at[d] = p->lo[d];
  }
  next_block(l);
}
