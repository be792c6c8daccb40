/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Rows of several patches of the same extents at once. The caller's elements of the first are
 * visited in place. The corresponding elements of the others are visited in place if they are on
 * the caller's node, otherwise in a buffer. */
#ifndef RGI_BOX_H
#define RGI_BOX_H

#include "math/operand.h"

#define RGI_BOX_OPERANDS RGI_MATH_OPERANDS

/* A row: n elements that are contiguous in all operands, n as large as possible, from at[0], at[1],
 * ... on. */
typedef void rgi_box_row(void *context, int64_t n, char *const at[]);

/* Calls `row` for rows that together are the caller's part of the first operand; the others are
 * only read. All operands have the same type and extents. Stops at an error of getting elements
 * from other nodes. */
int rgi_box_rows(int n, const rgi_operand operand[], rgi_box_row *row, void *context);

#endif
