/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * y = alpha op(a) x + beta y. On one node every member computes its part of y from the blocks of a
 * and x where they lie. On several nodes every member multiplies its own blocks of a, and only
 * parts of x and y are moved. */
#include <limits.h>
#include <regroup/array_math.h>
#include <stdlib.h>

#include "base/error.h"
#include "distribution/piece.h"
#include "math/blas.h"
#include "math/own.h"
#include "math/product.h"
#include "math/scale.h"

typedef struct {
  rg_array_form form;
  const void *alpha;
  rgi_operand a, x, y;
} vector_product;

static char *element_of(const rgi_operand *operand, const rgi_piece *piece) {
  return rgi_array_memory(operand->a, piece->rank) + piece->offset * (int64_t)operand->a->element;
}

/* Adds the product of a part of a block of a and the part x of the vector to the part y. */
static void add_block(const vector_product *product, const rgi_piece *a, const char *memory,
                      const char *x, char *y) {
  rgi_blas_vector(&(rgi_blas_vector_product){.type = product->a.a->type,
                                             .m = a->hi[0] - a->lo[0],
                                             .n = a->hi[1] - a->lo[1],
                                             .alpha = product->alpha,
                                             .a = {product->form, memory, a->ld[0]},
                                             .x = x,
                                             .y = y});
}

/* One node: adds the products of a piece of a and the pieces of x to y. The order of additions is
 * fixed. */
static void times_x(const vector_product *product, const rgi_piece *a, char *y) {
  rgi_product_section part = rgi_product_section_of(&product->a, product->form, a);
  int column = product->form == RG_FORM_NORMAL ? 1 : 0;
  int64_t lo[2], hi[2];
  rgi_pieces pieces;
  rgi_piece x, some = *a;
  lo[0] = part.k0;
  hi[0] = part.k1;
  rgi_pieces_start(&pieces, &product->x.a->d, lo, hi);
  while (rgi_pieces_next(&pieces, &x)) {
    some.lo[column] = product->a.lo[column] + x.lo[0];
    some.hi[column] = product->a.lo[column] + x.hi[0];
    some.offset = a->offset + (x.lo[0] - part.k0) * (column ? 1 : a->ld[0]);
    add_block(product, &some, element_of(&product->a, &some), element_of(&product->x, &x), y);
  }
}

static void multiply_direct(const vector_product *product) {
  rgi_pieces own;
  rgi_piece y, a;
  rgi_pieces pieces;
  int k = product->form == RG_FORM_NORMAL ? 1 : 0;
  for (rgi_own_start(&own, &product->y); rgi_pieces_next(&own, &y);) {
    rgi_product_section part = {.i0 = y.lo[0], .i1 = y.hi[0], .k1 = product->a.hi[k]};
    int64_t lo[2], hi[2];
    rgi_product_section_patch(&product->a, product->form, part, lo, hi);
    rgi_pieces_start(&pieces, &product->a.a->d, lo, hi);
    while (rgi_pieces_next(&pieces, &a)) {
      int64_t down = rgi_product_section_of(&product->a, product->form, &a).i0 - y.lo[0];
      times_x(product, &a, rgi_own_memory(&product->y, &y) + down * (int64_t)product->y.a->element);
    }
  }
}

/* Several nodes: gets the part of x for a block, and accumulates the product to y. */
static int multiply_own_block(const vector_product *product, const rgi_piece *a, char *x, char *y) {
  rgi_product_section part = rgi_product_section_of(&product->a, product->form, a);
  size_t element = product->y.a->element;
  RGI_TRY(rg_array_get(product->x.a, &part.k0, &part.k1, x, NULL));
  for (size_t i = 0; i < (size_t)(part.i1 - part.i0) * element; i++)
    y[i] = 0;
  add_block(product, a, rgi_own_memory(&product->a, a), x, y);
  return rg_array_acc(product->y.a, &part.i0, &part.i1, y, NULL, NULL);
}

static int multiply_own(const vector_product *product) {
  rgi_pieces own;
  rgi_piece a;
  int error = RG_SUCCESS;
  for (rgi_own_start(&own, &product->a); !error && rgi_pieces_next(&own, &a);) {
    rgi_product_section part = rgi_product_section_of(&product->a, product->form, &a);
    char *x = malloc((size_t)(part.k1 - part.k0) * product->a.a->element);
    char *y = malloc((size_t)(part.i1 - part.i0) * product->a.a->element);
    error = x && y ? multiply_own_block(product, &a, x, y)
                   : rgi_error(RG_ERR_NOMEM, "no memory for a part of a vector");
    free(x);
    free(y);
  }
  return error;
}

static int check_vector_product(const char *call, const vector_product *product, const void *beta) {
  int row = product->form == RG_FORM_NORMAL ? 0 : 1;
  rg_array a = product->a.a, x = product->x.a, y = product->y.a;
  if (!product->alpha || !beta)
    return rgi_error(RG_ERR_ARG, "%s: alpha or beta is NULL", call);
  if ((int)product->form < RG_FORM_NORMAL || product->form > RG_FORM_CONJUGATED)
    return rgi_error(RG_ERR_ARG, "%s: there is no form %d", call, (int)product->form);
  if (a->d.dims != 2 || x->d.dims != 1 || y->d.dims != 1)
    return rgi_error(RG_ERR_ARG, "%s: a has 2 dimensions, x and y have 1", call);
  if (!rgi_blas_type(a->type) || x->type != a->type || y->type != a->type)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are to be of one real or complex type", call);
  if (x == y)
    return rgi_error(RG_ERR_ARG, "%s: x and y are the same array", call);
  if (a->d.shape[1] + 2 * a->d.ghosts[1] > INT_MAX)
    return rgi_error(RG_ERR_LIMIT, "%s: the matrix has %lld columns, more than CBLAS can take",
                     call, (long long)a->d.shape[1]);
  if (y->d.shape[0] != a->d.shape[row] || x->d.shape[0] != a->d.shape[1 - row])
    return rgi_error(RG_ERR_ARG, "%s: x has %lld elements and y %lld, the matrix is of %lld x %lld",
                     call, (long long)x->d.shape[0], (long long)y->d.shape[0],
                     (long long)a->d.shape[row], (long long)a->d.shape[1 - row]);
  RGI_TRY(rgi_operands_together(call, &product->x, &product->a));
  return rgi_operands_together(call, &product->y, &product->a);
}

int rg_array_multiply_vector(rg_array_form form_a, const void *alpha, rg_array a, rg_array x,
                             const void *beta, rg_array y) {
  vector_product product = {.form = form_a, .alpha = alpha};
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &product.a));
  RGI_TRY(rgi_operand_make(__func__, x, NULL, NULL, &product.x));
  RGI_TRY(rgi_operand_make(__func__, y, NULL, NULL, &product.y));
  RGI_TRY(check_vector_product(__func__, &product, beta));
  const rgi_operand operand[3] = {product.y, product.a, product.x};
  RGI_TRY(rgi_operands_begin(__func__, 3, operand));
  int threads = rgi_blas_begin(), error = rgi_scale_own(&product.y, beta);
  if (a->one_node) {
    multiply_direct(&product);
  } else {
    int all = rgi_operands_end(__func__, 3, operand, error);
    error = all ? all : multiply_own(&product);
  }
  rgi_blas_end(threads);
  return rgi_operands_end(__func__, 3, operand, error);
}
