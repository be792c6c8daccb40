/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * c = alpha op(a) op(b) + beta c for whole arrays and patches: checks, and the choice of the
 * algorithm. Each member computes its own blocks of c. */
#include "math/product.h"

#include <regroup/array_math.h>

#include "base/error.h"
#include "distribution/piece.h"
#include "math/scale.h"

static int64_t extent_of(const rgi_operand *operand, rg_array_form form, int d) {
  int e = form == RG_FORM_NORMAL ? d : 1 - d;
  return operand->hi[e] - operand->lo[e];
}

static int check_form(const char *call, rg_array_form form) {
  if ((int)form < RG_FORM_NORMAL || form > RG_FORM_CONJUGATED)
    return rgi_error(RG_ERR_ARG, "%s: there is no form %d", call, (int)form);
  return RG_SUCCESS;
}

static int check_array(const char *call, const rgi_operand *operand, const rgi_operand *c) {
  if (operand->a->d.dims != 2)
    return rgi_error(RG_ERR_ARG, "%s: an array of %d dimensions is no matrix", call,
                     operand->a->d.dims);
  if (!rgi_blas_type(operand->a->type) || operand->a->type != c->a->type)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are to be of one real or complex type", call);
  if (operand != c && operand->a == c->a)
    return rgi_error(RG_ERR_ARG, "%s: the result is one of the factors", call);
  return rgi_operands_together(call, operand, c);
}

static int check_product(const char *call, rgi_product *product) {
  if (!product->alpha || !product->beta)
    return rgi_error(RG_ERR_ARG, "%s: alpha or beta is NULL", call);
  RGI_TRY(check_form(call, product->form_a));
  RGI_TRY(check_form(call, product->form_b));
  RGI_TRY(check_array(call, &product->c, &product->c));
  RGI_TRY(check_array(call, &product->a, &product->c));
  RGI_TRY(check_array(call, &product->b, &product->c));
  product->m = extent_of(&product->c, RG_FORM_NORMAL, 0);
  product->n = extent_of(&product->c, RG_FORM_NORMAL, 1);
  product->k = extent_of(&product->a, product->form_a, 1);
  int64_t m = extent_of(&product->a, product->form_a, 0),
          k = extent_of(&product->b, product->form_b, 0),
          n = extent_of(&product->b, product->form_b, 1);
  if (m != product->m || n != product->n || k != product->k)
    return rgi_error(RG_ERR_ARG,
                     "%s: a matrix of %lld x %lld times one of %lld x %lld is not one of %lld x "
                     "%lld",
                     call, (long long)m, (long long)product->k, (long long)k, (long long)n,
                     (long long)product->m, (long long)product->n);
  return RG_SUCCESS;
}

static int multiply_arrays(const char *call, rgi_product *product) {
  RGI_TRY(check_product(call, product));
  const rgi_operand operand[3] = {product->c, product->a, product->b};
  int error = RG_SUCCESS;
  RGI_TRY(rgi_operands_begin(call, 3, operand));
  int threads = rgi_blas_begin();
  if (product->k == 0)
    error = rgi_scale_own(&product->c, product->beta);
  else if (rgi_product_is_direct(product))
    rgi_product_direct(product);
  else
    error = rgi_product_panels(product);
  rgi_blas_end(threads);
  return rgi_operands_end(call, 3, operand, error);
}

int rg_array_multiply(rg_array_form form_a, rg_array_form form_b, const void *alpha, rg_array a,
                      rg_array b, const void *beta, rg_array c) {
  rgi_product product = {.form_a = form_a, .form_b = form_b, .alpha = alpha, .beta = beta};
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &product.a));
  RGI_TRY(rgi_operand_make(__func__, b, NULL, NULL, &product.b));
  RGI_TRY(rgi_operand_make(__func__, c, NULL, NULL, &product.c));
  return multiply_arrays(__func__, &product);
}

int rg_array_multiply_patch(rg_array_form form_a, rg_array_form form_b, const void *alpha,
                            rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                            const int64_t blo[], const int64_t bhi[], const void *beta, rg_array c,
                            const int64_t clo[], const int64_t chi[]) {
  rgi_product product = {.form_a = form_a, .form_b = form_b, .alpha = alpha, .beta = beta};
  RGI_TRY(rgi_operand_make(__func__, a, alo, ahi, &product.a));
  RGI_TRY(rgi_operand_make(__func__, b, blo, bhi, &product.b));
  RGI_TRY(rgi_operand_make(__func__, c, clo, chi, &product.c));
  return multiply_arrays(__func__, &product);
}

void rgi_product_section_patch(const rgi_operand *operand, rg_array_form form,
                               rgi_product_section part, int64_t lo[2], int64_t hi[2]) {
  int row = form == RG_FORM_NORMAL ? 0 : 1, column = 1 - row;
  lo[row] = operand->lo[row] + part.i0;
  hi[row] = operand->lo[row] + part.i1;
  lo[column] = operand->lo[column] + part.k0;
  hi[column] = operand->lo[column] + part.k1;
}

rgi_product_section rgi_product_section_of(const rgi_operand *operand, rg_array_form form,
                                           const rgi_piece *piece) {
  int row = form == RG_FORM_NORMAL ? 0 : 1, column = 1 - row;
  return (rgi_product_section){.i0 = piece->lo[row] - operand->lo[row],
                               .i1 = piece->hi[row] - operand->lo[row],
                               .k0 = piece->lo[column] - operand->lo[column],
                               .k1 = piece->hi[column] - operand->lo[column]};
}
