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

/* Of what the caller's elements are set to, multiplied by, or added to. */
typedef struct {
  const void *value;
  size_t element; /* bytes */
} scalar;

/* --- setting elements to one value ------------------------------------------------------------ */

typedef struct {
  uint64_t half[2];
} fill_16_bytes;

#define FILL(name, type)                                                                           \
  static void name(void *filling, int64_t n, char *const at[]) {                                   \
    type *to = (type *)(void *)at[0], x;                                                           \
    memcpy(&x, ((const scalar *)filling)->value, sizeof x);                                        \
    for (int64_t i = 0; i < n; i++)                                                                \
      to[i] = x;                                                                                   \
  }
FILL(fill_4, uint32_t)
FILL(fill_8, uint64_t)
FILL(fill_16, fill_16_bytes)

static void fill_any(void *filling, int64_t n, char *const at[]) {
  const scalar *s = filling;
  for (int64_t i = 0; i < n; i++)
    memcpy(at[0] + i * (int64_t)s->element, s->value, s->element);
}

static int fill_own(const rgi_operand *operand, const void *value) {
  scalar s = {value, operand->a->element};
  return rgi_box_rows(1, operand,
                      s.element == 8    ? fill_8
                      : s.element == 16 ? fill_16
                      : s.element == 4  ? fill_4
                                        : fill_any,
                      &s);
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

#define LOOP(verb, name, work, op)                                                                 \
  static void verb##_##name(void *context, int64_t n, char *const at[]) {                          \
    work *x = (work *)(void *)at[0], s;                                                            \
    memcpy(&s, ((const scalar *)context)->value, sizeof s);                                        \
    for (int64_t i = 0; i < n; i++)                                                                \
      x[i] = (work)(x[i] op s);                                                                    \
  }
#define LOOPS(TYPE, name, type, work) LOOP(scale, name, work, *) LOOP(shift, name, work, +)
RGI_EACH_TYPE(LOOPS)

#define SCALE(TYPE, name, type, work) [TYPE] = scale_##name,
#define SHIFT(TYPE, name, type, work) [TYPE] = shift_##name,
static rgi_box_row *const scales[RG_TYPE_COUNT] = {RGI_EACH_TYPE(SCALE)};
static rgi_box_row *const shifts[RG_TYPE_COUNT] = {RGI_EACH_TYPE(SHIFT)};

/* 16 bytes of zeros are a zero of every type. */
static const double zero[2];

#define IS_ZERO(TYPE, name, type, work)                                                            \
  case TYPE: {                                                                                     \
    type value;                                                                                    \
    memcpy(&value, factor, sizeof value);                                                          \
    return value == 0;                                                                             \
  }

/* Also a negative zero is one. */
static int is_zero(rg_array_type array_type, const void *factor) {
  switch (array_type) {
    RGI_EACH_TYPE(IS_ZERO)
  default:
    return 0;
  }
}

int rgi_scale_own(const rgi_operand *operand, const void *factor) {
  if (is_zero(operand->a->type, factor))
    return fill_own(operand, zero);
  scalar s = {factor, operand->a->element};
  return rgi_box_rows(1, operand, scales[operand->a->type], &s);
}

static int run_loop(const char *call, rgi_box_row *const loops[], const rgi_operand *operand,
                    const void *value) {
  RGI_TRY(rgi_operand_arithmetic(call, operand));
  scalar s = {value, operand->a->element};
  RGI_TRY(rgi_operands_begin(call, 1, operand));
  return rgi_operands_end(call, 1, operand, rgi_box_rows(1, operand, loops[operand->a->type], &s));
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
