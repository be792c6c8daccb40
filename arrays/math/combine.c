/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Product, quotient, minimum and maximum of two patches, element by element. A division of an
 * integer by 0 is carried on as 0 and reported at the end. */
#include <regroup/array_math.h>

#include "base/error.h"
#include "math/box.h"
#include "math/typed_loops.h"

/* Returns whether a divisor was 0 (integers only). */
typedef int combine_loop(int64_t n, char *c, const char *a, const char *b);

#define LOOP(verb, name, type, expression)                                                         \
  static int verb##_##name(int64_t n, char *c, const char *a, const char *b) {                     \
    type *z = (type *)(void *)c;                                                                   \
    const type *xs = (const type *)(const void *)a, *ys = (const type *)(const void *)b;           \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const type x = xs[i], y = ys[i];                                                             \
      z[i] = (expression);                                                                         \
    }                                                                                              \
    return 0;                                                                                      \
  }
#define MULTIPLY(TYPE, name, type, work) LOOP(multiply, name, work, x *y)
RGI_EACH_TYPE(MULTIPLY)

/* The quotient of the most negative number by -1 wraps around. */
#define DIVIDE_INTEGERS(TYPE, name, type, work)                                                    \
  static int divide_##name(int64_t n, char *c, const char *a, const char *b) {                     \
    type *z = (type *)(void *)c;                                                                   \
    const type *x = (const type *)(const void *)a, *y = (const type *)(const void *)b;             \
    int bad = 0;                                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                              \
      bad = bad || y[i] == 0;                                                                      \
      z[i] = y[i] == 0 ? 0 : y[i] == -1 ? (type)(0 - (work)x[i]) : x[i] / y[i];                    \
    }                                                                                              \
    return bad;                                                                                    \
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
static combine_loop *const loops[RG_COMBINE_MAXIMUM + 1][RG_TYPE_COUNT] = {
    [RG_COMBINE_MULTIPLY] = {RGI_EACH_TYPE(ENTRY_MULTIPLY)},
    [RG_COMBINE_DIVIDE] = {RGI_EACH_TYPE(ENTRY_DIVIDE)},
    [RG_COMBINE_MINIMUM] = {RGI_EACH_ORDERED(ENTRY_MINIMUM)},
    [RG_COMBINE_MAXIMUM] = {RGI_EACH_ORDERED(ENTRY_MAXIMUM)}};

typedef struct {
  combine_loop *f;
  int bad;
} combine_call;

static int combine_box(void *context, const rgi_box *box) {
  combine_call *j = context;
  rgi_box_rows rows;
  for (rgi_box_rows_start(&rows, box); rows.n; rgi_box_rows_next(&rows))
    j->bad |= j->f(rows.n, rows.at[0], rows.at[1], rows.at[2]);
  return RG_SUCCESS;
}

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
  combine_call j = {loops[op][c->type], 0};
  RGI_TRY(rgi_operands_begin(__func__, 3, operand));
  int error = rgi_box_each(3, operand, combine_box, &j);
  if (!error && j.bad)
    error = rgi_error(RG_ERR_ARG, "rg_array_combine: division of an integer by 0");
  return rgi_operands_end(__func__, 3, operand, error);
}
