/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Functions of the elements of up to three patches, written to another one: loops over the rows of
 * boxes (box.h). A division of an integer by 0 is carried on as 0 and reported at the end. */
#include <math.h>
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "math/box.h"
#include "math/typed_loops.h"

/* --- loops of the named operations ------------------------------------------------------- */

/* at[0] is written. bad: set where a divisor was 0 (integers only). */

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

/* Of one patch. */
#define LOOP_1(verb, name, type, expression)                                                       \
  static void verb##_##name(void *bad, int64_t n, char *const at[]) {                              \
    type *z = (type *)(void *)at[0];                                                               \
    const type *xs = (const type *)(const void *)at[1];                                            \
    int zeros = 0;                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const type x = xs[i];                                                                        \
      z[i] = (expression);                                                                         \
    }                                                                                              \
    *(int *)bad |= zeros;                                                                          \
  }
/* The absolute value of the most negative number is that number. */
#define OF_INTEGER(TYPE, name, type, work)                                                         \
  LOOP_1(absolute, name, type, x < 0 ? (type)(0 - (work)x) : x)                                    \
  LOOP_1(reciprocal, name, type, x == 0 ? (zeros = 1, 0) : 1 / x)
RGI_EACH_INTEGER(OF_INTEGER)
#define OF_REAL(TYPE, name, type, work)                                                            \
  LOOP_1(absolute, name, type, (type)fabs((double)x)) LOOP_1(reciprocal, name, type, 1 / x)
RGI_EACH_REAL(OF_REAL)
#define OF_COMPLEX(TYPE, name, type, work)                                                         \
  LOOP_1(absolute, name, type, (type)cabs((double _Complex)x)) LOOP_1(reciprocal, name, type, 1 / x)
RGI_EACH_COMPLEX(OF_COMPLEX)

#define MEDIAN(TYPE, name, type, work)                                                             \
  static void median_##name(void *bad, int64_t n, char *const at[]) {                              \
    type *m = (type *)(void *)at[0];                                                               \
    const type *x = (const type *)(const void *)at[1], *y = (const type *)(const void *)at[2],     \
               *z = (const type *)(const void *)at[3];                                             \
    (void)bad;                                                                                     \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const type low = x[i] < y[i] ? x[i] : y[i], high = x[i] < y[i] ? y[i] : x[i];                \
      m[i] = z[i] < low ? low : z[i] > high ? high : z[i];                                         \
    }                                                                                              \
  }
RGI_EACH_ORDERED(MEDIAN)

#define ENTRY_MULTIPLY(TYPE, name, type, work) [TYPE] = multiply_##name,
#define ENTRY_DIVIDE(TYPE, name, type, work) [TYPE] = divide_##name,
#define ENTRY_MINIMUM(TYPE, name, type, work) [TYPE] = minimum_##name,
#define ENTRY_MAXIMUM(TYPE, name, type, work) [TYPE] = maximum_##name,
#define ENTRY_ABSOLUTE(TYPE, name, type, work) [TYPE] = absolute_##name,
#define ENTRY_RECIPROCAL(TYPE, name, type, work) [TYPE] = reciprocal_##name,
#define ENTRY_MEDIAN(TYPE, name, type, work) [TYPE] = median_##name,
static const struct {
  int patches;
  rgi_box_row *loops[RG_TYPE_COUNT];
} operations[RG_COMBINE_MEDIAN + 1] = {
    [RG_COMBINE_MULTIPLY] = {3, {RGI_EACH_TYPE(ENTRY_MULTIPLY)}},
    [RG_COMBINE_DIVIDE] = {3, {RGI_EACH_TYPE(ENTRY_DIVIDE)}},
    [RG_COMBINE_MINIMUM] = {3, {RGI_EACH_ORDERED(ENTRY_MINIMUM)}},
    [RG_COMBINE_MAXIMUM] = {3, {RGI_EACH_ORDERED(ENTRY_MAXIMUM)}},
    [RG_COMBINE_ABSOLUTE] = {2, {RGI_EACH_TYPE(ENTRY_ABSOLUTE)}},
    [RG_COMBINE_RECIPROCAL] = {2, {RGI_EACH_TYPE(ENTRY_RECIPROCAL)}},
    [RG_COMBINE_MEDIAN] = {4, {RGI_EACH_ORDERED(ENTRY_MEDIAN)}}};

/* --- the calls --------------------------------------------------------------------------- */

static int check_combine(const char *call, rg_combine_operation op, int n,
                         const rg_array_patch patch[], rgi_operand operand[]) {
  if ((int)op < RG_COMBINE_MULTIPLY || op > RG_COMBINE_MEDIAN)
    return rgi_error(RG_ERR_ARG, "%s: there is no operation %d", call, (int)op);
  if (n != operations[op].patches)
    return rgi_error(RG_ERR_ARG, "%s: %d patches; this operation has %d", call, n,
                     operations[op].patches);
  RGI_TRY(rgi_operands_make(call, n, patch, operand));
  RGI_TRY(rgi_operand_arithmetic(call, &operand[0]));
  if (!operations[op].loops[operand[0].a->type])
    return rgi_error(RG_ERR_ARG, "%s: complex numbers have no order", call);
  return RG_SUCCESS;
}

static int combine(const char *call, rg_combine_operation op, int n, const rg_array_patch patch[]) {
  rgi_operand operand[RGI_BOX_OPERANDS];
  int bad = 0;
  RGI_TRY(check_combine(call, op, n, patch, operand));
  RGI_TRY(rgi_operands_begin(call, n, operand));
  int error = rgi_box_rows(n, operand, operations[op].loops[operand[0].a->type], &bad);
  if (!error && bad)
    error = rgi_error(RG_ERR_ARG, "%s: division of an integer by 0", call);
  return rgi_operands_end(call, n, operand, error);
}

int rg_array_combine(rg_combine_operation op, rg_array a, rg_array b, rg_array c) {
  const rg_array_patch patch[3] = {{c, NULL, NULL}, {a, NULL, NULL}, {b, NULL, NULL}};
  return combine(__func__, op, 3, patch);
}

int rg_array_combine_patches(rg_combine_operation op, int n, const rg_array_patch patch[]) {
  return combine(__func__, op, n, patch);
}

/* The caller's function, and what it returned. */
typedef struct {
  rg_array_patches_function *f;
  void *context;
  int returned;
  unsigned mark;
} mapping;

static void map_row(void *context, int64_t n, char *const at[]) {
  mapping *map = context;
  void *row[RGI_BOX_OPERANDS];
  if (map->returned)
    return;
  memcpy(row, at, sizeof row);
  map->mark = rgi_error_mark();
  map->returned = map->f(n, row, map->context);
}

int rg_array_map_patches(int n, const rg_array_patch patch[], rg_array_patches_function *f,
                         void *context) {
  rgi_operand operand[RGI_BOX_OPERANDS];
  mapping map = {.f = f, .context = context};
  RGI_REQUIRE(f);
  RGI_TRY(rgi_operands_make(__func__, n, patch, operand));
  RGI_TRY(rgi_operands_begin(__func__, n, operand));
  int error = rgi_box_rows(n, operand, map_row, &map);
  if (!error)
    error = rgi_error_of_callback("the function", map.returned, map.mark);
  return rgi_operands_end(__func__, n, operand, error);
}
