/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Setting elements to one value, multiplying them by a factor and adding a number to them, as loops
 * over rows of boxes (box.h). */
#include "math/scale.h"

#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "math/box.h"
#include "math/operand.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

/* --- setting elements to one value ------------------------------------------------------------ */

typedef struct {
  uint64_t half[2];
} fill_16_bytes;

#define FILL(name, type)                                                                           \
  static void name(int64_t n, char *at, const void *value) {                                       \
    type *to = (type *)(void *)at, x;                                                              \
    memcpy(&x, value, sizeof x);                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                \
      to[i] = x;                                                                                   \
  }
FILL(fill_4, uint32_t)
FILL(fill_8, uint64_t)
FILL(fill_16, fill_16_bytes)

static void fill_any(int64_t n, char *at, const void *value, size_t element) {
  for (int64_t i = 0; i < n; i++)
    memcpy(at + i * (int64_t)element, value, element);
}

typedef struct {
  const void *value;
} filling;

static int fill_box(void *context, const rgi_box *box) {
  const void *value = ((const filling *)context)->value;
  rgi_box_rows rows;
  for (rgi_box_rows_start(&rows, box); rows.n; rgi_box_rows_next(&rows)) {
    if (box->element == 8)
      fill_8(rows.n, rows.at[0], value);
    else if (box->element == 16)
      fill_16(rows.n, rows.at[0], value);
    else if (box->element == 4)
      fill_4(rows.n, rows.at[0], value);
    else
      fill_any(rows.n, rows.at[0], value, box->element);
  }
  return RG_SUCCESS;
}

static int fill_own(const rgi_operand *operand, const void *value) {
  filling f = {value};
  return rgi_box_each(1, operand, fill_box, &f);
}

int rg_array_fill(rg_array a, const int64_t lo[], const int64_t hi[], const void *value) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_REQUIRE(value);
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return rgi_operands_end(__func__, 1, &operand, fill_own(&operand, value));
}

int rg_array_zero(rg_array a) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  int64_t n = rgi_distribution_extent(&a->d, a->me);
  if (n > 0)
    memset(rgi_array_mine(a), 0, (size_t)n * a->element);
  return rgi_operands_end(__func__, 1, &operand, RG_SUCCESS);
}

/* --- multiplying and adding ------------------------------------------------------------------- */

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
    return fill_own(operand, zero);
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
