/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * c = alpha op(a) op(b) + beta c for whole arrays and patches: checks, and the choice of the
 * algorithm. Each member computes its own blocks of c. */
#include "math/product.h"

#include <regroup/array_math.h>

#include "base/error.h"
#include "math/scale.h"

static int64_t extent_of(const rgi_operand *o, rg_array_form form, int d) {
  int e = form == RG_FORM_NORMAL ? d : 1 - d;
  return o->hi[e] - o->lo[e];
}

static int check_form(const char *call, rg_array_form form) {
  if ((int)form < RG_FORM_NORMAL || form > RG_FORM_CONJUGATED)
    return rgi_error(RG_ERR_ARG, "%s: there is no form %d", call, (int)form);
  return RG_SUCCESS;
}

static int check_array(const char *call, const rgi_operand *o, const rgi_operand *c) {
  if (o->a->d.dims != 2)
    return rgi_error(RG_ERR_ARG, "%s: an array of %d dimensions is no matrix", call, o->a->d.dims);
  if (!rgi_blas_type(o->a->type) || o->a->type != c->a->type)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are to be of one real or complex type", call);
  if (o != c && o->a == c->a)
    return rgi_error(RG_ERR_ARG, "%s: the result is one of the factors", call);
  return rgi_operands_together(call, o, c);
}

static int check_product(const char *call, rgi_product *p) {
  if (!p->alpha || !p->beta)
    return rgi_error(RG_ERR_ARG, "%s: alpha or beta is NULL", call);
  RGI_TRY(check_form(call, p->form_a));
  RGI_TRY(check_form(call, p->form_b));
  RGI_TRY(check_array(call, &p->c, &p->c));
  RGI_TRY(check_array(call, &p->a, &p->c));
  RGI_TRY(check_array(call, &p->b, &p->c));
  p->m = extent_of(&p->c, RG_FORM_NORMAL, 0);
  p->n = extent_of(&p->c, RG_FORM_NORMAL, 1);
  p->k = extent_of(&p->a, p->form_a, 1);
  int64_t m = extent_of(&p->a, p->form_a, 0), k = extent_of(&p->b, p->form_b, 0),
          n = extent_of(&p->b, p->form_b, 1);
  if (m != p->m || n != p->n || k != p->k)
    return rgi_error(RG_ERR_ARG,
                     "%s: a matrix of %lld x %lld times one of %lld x %lld is not one of %lld x "
                     "%lld",
                     call, (long long)m, (long long)p->k, (long long)k, (long long)n,
                     (long long)p->m, (long long)p->n);
  return RG_SUCCESS;
}

static int multiply_arrays(const char *call, rgi_product *p) {
  RGI_TRY(check_product(call, p));
  const rgi_operand o[3] = {p->c, p->a, p->b};
  int error = RG_SUCCESS;
  RGI_TRY(rgi_operands_begin(call, 3, o));
  int threads = rgi_blas_begin();
  if (p->k == 0)
    error = rgi_scale_own(&p->c, p->beta);
  else if (rgi_product_is_direct(p))
    rgi_product_direct(p);
  else
    error = rgi_product_panels(p);
  rgi_blas_end(threads);
  return rgi_operands_end(call, 3, o, error);
}

int rg_array_multiply(rg_array_form form_a, rg_array_form form_b, const void *alpha, rg_array a,
                      rg_array b, const void *beta, rg_array c) {
  rgi_product p = {.form_a = form_a, .form_b = form_b, .alpha = alpha, .beta = beta};
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &p.a));
  RGI_TRY(rgi_operand_make(__func__, b, NULL, NULL, &p.b));
  RGI_TRY(rgi_operand_make(__func__, c, NULL, NULL, &p.c));
  return multiply_arrays(__func__, &p);
}

int rg_array_multiply_patch(rg_array_form form_a, rg_array_form form_b, const void *alpha,
                            rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                            const int64_t blo[], const int64_t bhi[], const void *beta, rg_array c,
                            const int64_t clo[], const int64_t chi[]) {
  rgi_product p = {.form_a = form_a, .form_b = form_b, .alpha = alpha, .beta = beta};
  RGI_TRY(rgi_operand_make(__func__, a, alo, ahi, &p.a));
  RGI_TRY(rgi_operand_make(__func__, b, blo, bhi, &p.b));
  RGI_TRY(rgi_operand_make(__func__, c, clo, chi, &p.c));
  return multiply_arrays(__func__, &p);
}
