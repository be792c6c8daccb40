/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Multiplying the elements of an array by factors that differ along one dimension. */
#include <regroup/array_math.h>
#include <stdlib.h>

#include "base/error.h"
#include "math/own.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

/* A line of n elements times factors that are `step` elements apart. */
typedef void line_loop(int64_t n, char *at, const char *factors, int64_t step);
#define LOOP(TYPE, name, type, work)                                                               \
  static void scale_##name(int64_t n, char *at, const char *factors, int64_t step) {               \
    work *x = (work *)(void *)at;                                                                  \
    const work *f = (const work *)(const void *)factors;                                           \
    for (int64_t i = 0; i < n; i++)                                                                \
      x[i] = (work)(x[i] * f[i * step]);                                                           \
  }
RGI_EACH_TYPE(LOOP)
#define ENTRY(TYPE, name, type, work) [TYPE] = scale_##name,
static line_loop *const loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

static int scale_lines(const rgi_operand *operand, int dimension, rg_array v) {
  rg_array a = operand->a;
  const int64_t zero = 0;
  char *factors = malloc((size_t)v->d.shape[0] * a->element + 1);
  if (!factors)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld factors", (long long)v->d.shape[0]);
  int error = rg_array_get(v, &zero, v->d.shape, factors, NULL);
  rgi_own_lines lines;
  for (rgi_own_lines_start(&lines, operand); !error && lines.n; rgi_own_lines_next(&lines))
    loops[a->type](lines.n, lines.ptr, factors + lines.at[dimension] * (int64_t)a->element,
                   dimension == a->d.dims - 1);
  free(factors);
  return error;
}

int rg_array_scale_along(rg_array a, int dimension, rg_array v) {
  rgi_operand operand[2];
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, v, NULL, NULL, &operand[1]));
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand[0]));
  if (dimension < 0 || dimension >= a->d.dims)
    return rgi_error(RG_ERR_ARG, "%s: dimension %d of an array of %d", __func__, dimension,
                     a->d.dims);
  if (a == v || a->type != v->type || v->d.dims != 1 || v->d.shape[0] != a->d.shape[dimension])
    return rgi_error(
        RG_ERR_ARG, "%s: v is no other array of one dimension and the same type with %lld elements",
        __func__, (long long)a->d.shape[dimension]);
  RGI_TRY(rgi_operands_together(__func__, &operand[1], &operand[0]));
  RGI_TRY(rgi_operands_begin(__func__, 2, operand));
  return rgi_operands_end(__func__, 2, operand, scale_lines(&operand[0], dimension, v));
}
