/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Loops over several patches of the same extents at once. The caller's elements of the first are
 * visited in place. The corresponding elements of the others are visited in place if they are on
 * the caller's node, otherwise in a buffer. */
#ifndef RGI_BOX_H
#define RGI_BOX_H

#include "math/operand.h"

#define RGI_BOX_OPERANDS 3

/* Corresponding boxes of elements of up to 3 operands. */
typedef struct {
  int operands, dims;
  size_t element; /* bytes */
  int64_t extent[RG_ARRAY_MAX_DIMS];
  char *at[RGI_BOX_OPERANDS];                          /* the first element */
  int64_t stride[RGI_BOX_OPERANDS][RG_ARRAY_MAX_DIMS]; /* in elements */
} rgi_box;

/* Calls f for boxes that together are the caller's part of the first operand; the others are
 * only read. All have the same type and extents. Stops at an error, of f or of getting
 * elements from other nodes. */
typedef int rgi_box_function(void *context, const rgi_box *box);
int rgi_box_each(int n, const rgi_operand operand[], rgi_box_function *function, void *context);

/* The rows of a box: n elements that are contiguous in all operands, n as large as possible.
 *
 *   for (rgi_box_rows_start(&r, box); r.n; rgi_box_rows_next(&r))
 *     ... r.n elements from r.at[0], r.at[1] ... */
typedef struct {
  int64_t n; /* 0: no more */
  char *at[RGI_BOX_OPERANDS];
  rgi_box box;
  int64_t i[RG_ARRAY_MAX_DIMS];
} rgi_box_rows;
void rgi_box_rows_start(rgi_box_rows *rows, const rgi_box *box);
void rgi_box_rows_next(rgi_box_rows *rows);

#endif
