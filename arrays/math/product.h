/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A matrix product, and the two algorithms for the caller's part of it. */
#ifndef RGI_PRODUCT_H
#define RGI_PRODUCT_H

#include <regroup/array_math.h>

#include "distribution/piece.h"
#include "math/blas.h"
#include "math/operand.h"

/* c = alpha op(a) op(b) + beta c; c is m x n, op(a) m x k. Below, rows and columns
 * are counted from 0 in op(a), op(b) and c. */
typedef struct {
  rg_array_form form_a, form_b;
  rgi_operand a, b, c;
  const void *alpha, *beta;
  int64_t m, n, k;
} rgi_product;

/* Directly on the blocks in the node's memory: for arrays on one node with blocks that are large
 * enough for CBLAS. */
int rgi_product_is_direct(const rgi_product *product);
void rgi_product_direct(const rgi_product *product);

/* By panels of a and b, which are got into buffers: the next ones while CBLAS multiplies the
 * present ones. Small blocks of c are multiplied together. */
int rgi_product_panels(const rgi_product *product);

/* --- sections --------------------------------------------------------------------------------- */

/* Parts of op(m), where m is the patch of a matrix and op() its form: rows and columns are
 * counted from 0 in op(m), whatever the form and wherever the patch is in its array. */
/* Rows i0 to i1 - 1 and columns k0 to k1 - 1 of op(o). */
typedef struct {
  int64_t i0, i1, k0, k1;
} rgi_product_section;

/* The patch of operand's array that a section is, and the section that a piece of it is. */
void rgi_product_section_patch(const rgi_operand *operand, rg_array_form form,
                               rgi_product_section part, int64_t lo[2], int64_t hi[2]);
rgi_product_section rgi_product_section_of(const rgi_operand *operand, rg_array_form form,
                                           const rgi_piece *piece);

#endif
