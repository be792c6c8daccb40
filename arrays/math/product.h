/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A matrix product, and the two ways to the caller's part of it. */
#ifndef RGI_PRODUCT_H
#define RGI_PRODUCT_H

#include "math/blas.h"
#include "math/operand.h"

/* c = alpha op(a) op(b) + beta c; c is m x n, op(a) m x k. Below, rows and columns
 * are counted from 0 in op(a), op(b) and c. */
typedef struct {
  rg_form form_a, form_b;
  rgi_operand a, b, c;
  const void *alpha, *beta;
  int64_t m, n, k;
} rgi_product;

/* Straight on the blocks, where they lie: one node, and blocks that are worth it. */
int rgi_product_is_direct(const rgi_product *p);
void rgi_product_direct(const rgi_product *p);

/* Panels of a and b are got, the next ones while CBLAS works on the last; of the
 * caller's blocks of c so many are taken together that CBLAS has enough to do. */
int rgi_product_panels(const rgi_product *p);

#endif
