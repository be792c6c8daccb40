/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Product, quotient, minimum and maximum of two patches, element by element. A division of an
 * integer by 0 is carried on as 0 and reported at the end. */
#include <regroup/array_math.h>

#include "base/error.h"
#include "math/box.h"
#include "math/typed_loops.h"

/* Of c, a and b. bad: set where a divisor was 0 (integers only). */

#define LOOP(verb, name, type, expression)                                                         \
  static void verb##_##name(void *bad, int64_t n, char *const at[]) {                              \
    type *z = (type *)(void *)at[0];                                                               \
    const type *xs = (const type *)(const void *)at[1], *ys = (const type *)(const void *)at[2];   \
    (void)bad;                                                                                     \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const type x = xs[i], y = ys[i];                                                             \
      z[i] = (expression);                                                                         \
    }                                                                                              \
  }
#define MULTIPLY(TYPE, name, type, work) LOOP(multiply, name, work, x *y)
RGI_EACH_TYPE(MULTIPLY)

/* The quotient of the most negative number by -1 wraps around. */
#define DIVIDE_INTEGERS(TYPE, name, type, work)                                                    \
  static void divide_##name(void *bad, int64_t n, char *const at[]) {                              \
    type *z = (type *)(void *)at[0];                                                               \
    const type *x = (const type *)(const void *)at[1], *y = (const type *)(const void *)at[2];     \
    int zeros = 0;                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                              \
      zeros = zeros || y[i] == 0;                                                                  \
      z[i] = y[i] == 0 ? 0 : y[i] == -1 ? (type)(0 - (work)x[i]) : x[i] / y[i];                    \
    }                                                                                              \
    *(int *)bad |= zeros;                                                                          \
  }
RGI_EACH_INTEGER(DIVIDE_INTEGERS)
#define DIVIDE(TYPE, name, type, work) LOOP(divide, name, work, x / y)
RGI_EACH_REAL(DIVIDE)
RGI_EACH_COMPLEX(DIVIDE)

/* Of a NaN and a number the result is the number. */
#define ORDER(TYPE, name, type, work)                                                              \
  LOOP(minimum, name, type, y < x || x != x ? y : x)                                               \
  LOOP(maximum, name, type, y > x || x != x ? y : x)
RGI_EACH_ORDERED(ORDER)

#define ENTRY_MULTIPLY(TYPE, name, type, work) [TYPE] = multiply_##name,
#define ENTRY_DIVIDE(TYPE, name, type, work) [TYPE] = divide_##name,
#define ENTRY_MINIMUM(TYPE, name, type, work) [TYPE] = minimum_##name,
#define ENTRY_MAXIMUM(TYPE, name, type, work) [TYPE] = maximum_##name,
static rgi_box_row *const loops[RG_COMBINE_MAXIMUM + 1][RG_TYPE_COUNT] = {
    [RG_COMBINE_MULTIPLY] = {RGI_EACH_TYPE(ENTRY_MULTIPLY)},
    [RG_COMBINE_DIVIDE] = {RGI_EACH_TYPE(ENTRY_DIVIDE)},
    [RG_COMBINE_MINIMUM] = {RGI_EACH_ORDERED(ENTRY_MINIMUM)},
    [RG_COMBINE_MAXIMUM] = {RGI_EACH_ORDERED(ENTRY_MAXIMUM)}};

static int check_combine(const char *call, rg_combine_operation op, const rgi_operand operand[3]) {
  if ((int)op < RG_COMBINE_MULTIPLY || op > RG_COMBINE_MAXIMUM)
    return rgi_error(RG_ERR_ARG, "%s: there is no operation %d", call, (int)op);
  RGI_TRY(rgi_operand_arithmetic(call, &operand[0]));
  if (!loops[op][operand[0].a->type])
    return rgi_error(RG_ERR_ARG, "%s: complex numbers have no order", call);
  for (int k = 1; k < 3; k++) {
    RGI_TRY(rgi_operands_alike(call, &operand[k], &operand[0]));
    RGI_TRY(rgi_operands_together(call, &operand[k], &operand[0]));
  }
  return RG_SUCCESS;
}

int rg_array_combine(rg_combine_operation op, rg_array a, rg_array b, rg_array c) {
  rgi_operand operand[3];
  RGI_TRY(rgi_operand_make(__func__, c, NULL, NULL, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand[1]));
  RGI_TRY(rgi_operand_make(__func__, b, NULL, NULL, &operand[2]));
  RGI_TRY(check_combine(__func__, op, operand));
  int bad = 0;
  RGI_TRY(rgi_operands_begin(__func__, 3, operand));
  int error = rgi_box_rows(3, operand, loops[op][c->type], &bad);
  if (!error && bad)
    error = rgi_error(RG_ERR_ARG, "rg_array_combine: division of an integer by 0");
  return rgi_operands_end(__func__, 3, operand, error);
}
