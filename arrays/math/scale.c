/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Multiplying the elements by a factor, and adding a number to them, as loops over rows of boxes
 * (box.h). */
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "math/box.h"
#include "math/fill.h"
#include "math/scale.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

typedef void scale_loop(int64_t n, char *at, const void *scalar);

#define LOOP(verb, name, work, op)                                                                 \
  static void verb##_##name(int64_t n, char *at, const void *scalar) {                             \
    work *x = (work *)(void *)at, s;                                                               \
    memcpy(&s, scalar, sizeof s);                                                                  \
    for (int64_t i = 0; i < n; i++)                                                                \
      x[i] = (work)(x[i] op s);                                                                    \
  }
#define LOOPS(TYPE, name, type, work) LOOP(scale, name, work, *) LOOP(shift, name, work, +)
RGI_EACH_TYPE(LOOPS)

#define SCALE(TYPE, name, type, work) [TYPE] = scale_##name,
#define SHIFT(TYPE, name, type, work) [TYPE] = shift_##name,
static scale_loop *const scales[RG_TYPE_COUNT] = {RGI_EACH_TYPE(SCALE)};
static scale_loop *const shifts[RG_TYPE_COUNT] = {RGI_EACH_TYPE(SHIFT)};

typedef struct {
  scale_loop *f;
  const void *scalar;
} scale_call;

static int run_box(void *context, const rgi_box *box) {
  const scale_call *j = context;
  rgi_box_rows rows;
  for (rgi_box_rows_start(&rows, box); rows.n; rgi_box_rows_next(&rows))
    j->f(rows.n, rows.at[0], j->scalar);
  return RG_SUCCESS;
}

/* 16 bytes of zeros are a zero of every type. */
static const double zero[2];

#define IS_ZERO(TYPE, name, type, work)                                                            \
  case TYPE: {                                                                                     \
    type value;                                                                                    \
    memcpy(&value, scalar, sizeof value);                                                          \
    return value == 0;                                                                             \
  }

/* Also a negative zero is one. */
static int is_zero(rg_array_type array_type, const void *scalar) {
  switch (array_type) {
    RGI_EACH_TYPE(IS_ZERO)
  default:
    return 0;
  }
}

int rgi_scale_own(const rgi_operand *operand, const void *factor) {
  if (is_zero(operand->a->type, factor))
    return rgi_fill_own(operand, zero);
  scale_call j = {scales[operand->a->type], factor};
  return rgi_box_each(1, operand, run_box, &j);
}

static int run_loop(const char *call, scale_loop *const f[], const rgi_operand *operand,
                    const void *scalar) {
  RGI_TRY(rgi_operand_arithmetic(call, operand));
  scale_call j = {f[operand->a->type], scalar};
  RGI_TRY(rgi_operands_begin(call, 1, operand));
  return rgi_operands_end(call, 1, operand, rgi_box_each(1, operand, run_box, &j));
}

int rg_array_scale(rg_array a, const int64_t lo[], const int64_t hi[], const void *factor) {
  rgi_operand operand;
  RGI_REQUIRE(factor);
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  return run_loop(__func__, scales, &operand, factor);
}

int rg_array_add_scalar(rg_array a, const int64_t lo[], const int64_t hi[], const void *value) {
  rgi_operand operand;
  RGI_REQUIRE(value);
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  return run_loop(__func__, shifts, &operand, value);
}
