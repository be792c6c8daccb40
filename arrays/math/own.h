/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Going through the elements of a patch that the caller owns, block by block or line by line. */
#ifndef RGI_OWN_H
#define RGI_OWN_H

#include "distribution/piece.h"
#include "math/operand.h"

/* The caller's parts of a patch: one piece for each of its blocks.
 *
 *   for (rgi_own_start(&own, operand); rgi_pieces_next(&own, &piece);)
 *     ... piece.lo to piece.hi, from rgi_own_memory(operand, &piece) ... */
void rgi_own_start(rgi_pieces *own, const rgi_operand *operand);
char *rgi_own_memory(const rgi_operand *operand, const rgi_piece *piece);

/* The caller's part of a patch line by line: n elements along the last dimension,
 * the first of which is element `at` of the array.
 *
 *   for (rgi_own_lines_start(&l, o); l.n; rgi_own_lines_next(&l)) */
typedef struct {
  int64_t n; /* 0: no more */
  char *ptr;
  int64_t at[RG_ARRAY_MAX_DIMS];
  const rgi_operand *o;
  rgi_pieces own;
  rgi_piece piece;
  int64_t stride[RG_ARRAY_MAX_DIMS];
} rgi_own_lines;
void rgi_own_lines_start(rgi_own_lines *lines, const rgi_operand *operand);
void rgi_own_lines_next(rgi_own_lines *lines);

#endif
