/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 */
#include "math/own.h"

#include <string.h>

#include "distribution/piece.h"

void rgi_own_start(rgi_pieces *own, const rgi_operand *operand) {
  rgi_pieces_start_own(own, &operand->a->d, operand->a->me, operand->lo, operand->hi);
}

char *rgi_own_memory(const rgi_operand *operand, const rgi_piece *piece) {
  return rgi_array_mine(operand->a) + piece->offset * (int64_t)operand->a->element;
}

static void next_block(rgi_own_lines *lines) {
  int last = lines->o->a->d.dims - 1;
  lines->n = 0;
  if (!rgi_pieces_next(&lines->own, &lines->piece))
    return;
  rgi_piece_strides(last + 1, lines->piece.ld, lines->stride);
  memcpy(lines->at, lines->piece.lo, sizeof lines->at);
  lines->ptr = rgi_own_memory(lines->o, &lines->piece);
  lines->n = lines->piece.hi[last] - lines->piece.lo[last];
}

void rgi_own_lines_start(rgi_own_lines *lines, const rgi_operand *operand) {
  lines->o = operand;
  rgi_own_start(&lines->own, operand);
  next_block(lines);
}

void rgi_own_lines_next(rgi_own_lines *lines) {
  const rgi_piece *piece = &lines->piece;
  for (int d = lines->o->a->d.dims - 2; d >= 0; d--) {
    int64_t step = ++lines->at[d] < piece->hi[d] ? 1 : 1 - (piece->hi[d] - piece->lo[d]);
    lines->ptr += step * lines->stride[d] * (int64_t)lines->o->a->element;
    if (step > 0)
      return;
    lines->at[d] = piece->lo[d];
  }
  next_block(lines);
}
