/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Going through the caller's elements on the diagonal of a matrix. */
#ifndef RGI_DIAGONAL_H
#define RGI_DIAGONAL_H

#include "math/own.h"

/* The caller's part of the diagonal, block by block: elements (first, first) to (first + n - 1,
 * first + n - 1), from ptr on, each `step` bytes behind the one before.
 *
 *   for (rgi_diagonal_start(&part, operand); rgi_diagonal_next(&part);) */
typedef struct {
  int64_t n, first, step;
  char *ptr;
  const rgi_operand *operand;
  rgi_pieces own;
} rgi_diagonal;
void rgi_diagonal_start(rgi_diagonal *part, const rgi_operand *operand);
int rgi_diagonal_next(rgi_diagonal *part);

/* RG_ERR_ARG unless the array has 2 dimensions. */
int rgi_diagonal_check(const char *call, const rgi_operand *operand);

#endif
