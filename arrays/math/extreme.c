/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The least and the greatest element. Every element has a key, a signed integer that increases
 * (min) or decreases (max) with it. The result is the element with the least key, and of these the
 * one with the lowest index. A NaN has a key greater than that of every number. */
#include <math.h>
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "distribution/type.h"
#include "math/own.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

#define NAN_KEY (INT64_MAX - 1) /* above the key of infinity, the greatest of a real */

typedef struct {
  int64_t key, index;
} best;

static int64_t key_integer(int64_t x, int greatest) {
  return greatest ? ~x : x;
}

static int64_t integer_of(int64_t key, int greatest) {
  return greatest ? ~key : key;
}

/* As integers, the bits of positive doubles increase with them, those of negative ones decrease. */
static int64_t key_real(double x, int greatest) {
  int64_t bits;
  if (x != x)
    return NAN_KEY;
  x = (greatest ? -x : x) + 0.0; /* -0 becomes +0 */
  memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double real_of(int64_t key, int greatest) {
  double x;
  int64_t bits = key < 0 ? key ^ INT64_MAX : key;
  if (key == NAN_KEY)
    return (double)NAN;
  memcpy(&x, &bits, sizeof x);
  return greatest ? 0.0 - x : x;
}

/* The key of the first best one of n contiguous elements, and its place. A first loop finds the
 * best value, so that it can be vectorised, a second one its place. */
typedef int64_t extreme_loop(int64_t n, const char *at, int64_t *place);

#define SCAN(name, type, kind, better, start, greatest)                                            \
  static int64_t name(int64_t n, const char *at, int64_t *place) {                                 \
    const type *x = (const type *)(const void *)at;                                                \
    type lane[8], m = start;                                                                       \
    int64_t i = 0;                                                                                 \
    for (int j = 0; j < 8; j++)                                                                    \
      lane[j] = start;                                                                             \
    for (; i + 8 <= n; i += 8)                                                                     \
      for (int j = 0; j < 8; j++)                                                                  \
        lane[j] = x[i + j] better lane[j] ? x[i + j] : lane[j];                                    \
    for (; i < n; i++)                                                                             \
      m = x[i] better m ? x[i] : m;                                                                \
    for (int j = 0; j < 8; j++)                                                                    \
      m = lane[j] better m ? lane[j] : m;                                                          \
    for (i = 0; i < n && x[i] != m;)                                                               \
      i++;                                                                                         \
    *place = i < n ? i : 0; /* none: all are NaN */                                                \
    return key_##kind(x[*place], greatest);                                                        \
  }
SCAN(min_int32, int32_t, integer, <, INT32_MAX, 0)
SCAN(min_int64, int64_t, integer, <, INT64_MAX, 0)
SCAN(min_float, float, real, <, HUGE_VALF, 0)
SCAN(min_double, double, real, <, HUGE_VAL, 0)
SCAN(max_int32, int32_t, integer, >, INT32_MIN, 1)
SCAN(max_int64, int64_t, integer, >, INT64_MIN, 1)
SCAN(max_float, float, real, >, -HUGE_VALF, 1)
SCAN(max_double, double, real, >, -HUGE_VAL, 1)

#define MIN(TYPE, name, type, work) [TYPE] = min_##name,
#define MAX(TYPE, name, type, work) [TYPE] = max_##name,
static extreme_loop *const loops[2][RG_TYPE_COUNT] = {{RGI_EACH_ORDERED(MIN)},
                                                      {RGI_EACH_ORDERED(MAX)}};

/* The caller's best. */
static best own_best(const rgi_operand *operand, extreme_loop *f) {
  best b = {INT64_MAX, INT64_MAX};
  rgi_own_lines lines;
  for (rgi_own_lines_start(&lines, operand); lines.n; rgi_own_lines_next(&lines)) {
    int64_t place;
    int64_t key = f(lines.n, lines.ptr, &place);
    if (key > b.key)
      continue;
    int64_t index = rgi_distribution_linear(&operand->a->d, lines.at) + place;
    if (key < b.key || index < b.index)
      b = (best){key, index};
  }
  return b;
}

static void store_value(rg_array_type type, int64_t key, int greatest, void *to) {
  int64_t whole = integer_of(key, greatest);
  int32_t half = (int32_t)whole;
  double real = real_of(key, greatest);
  float narrow = (float)real;
  const void *from[RG_TYPE_COUNT] = {[RG_TYPE_INT32] = &half,
                                     [RG_TYPE_INT64] = &whole,
                                     [RG_TYPE_FLOAT] = &narrow,
                                     [RG_TYPE_DOUBLE] = &real};
  memcpy(to, from[type], rgi_type_size(type, 0));
}

static int find_extreme(const char *call, const rgi_operand *operand, int greatest, void *value,
                        int64_t at[]) {
  rg_array a = operand->a;
  int64_t key;
  RGI_TRY(rgi_operand_arithmetic(call, operand));
  if (!value)
    return rgi_error(RG_ERR_ARG, "%s: the output is NULL", call);
  if (rgi_type_is_complex(a->type))
    return rgi_error(RG_ERR_ARG, "%s: complex numbers have no order", call);
  if (rgi_operand_count(operand) == 0)
    return rgi_error(RG_ERR_ARG, "%s: the patch is empty", call);
  RGI_TRY(rgi_operands_begin(call, 1, operand));
  best b = own_best(operand, loops[greatest][a->type]);
  RGI_TRY(rg_allreduce(a->group, &b.key, &key, 1, MPI_INT64_T, MPI_MIN));
  if (b.key != key)
    b.index = INT64_MAX;
  RGI_TRY(rg_allreduce(a->group, MPI_IN_PLACE, &b.index, 1, MPI_INT64_T, MPI_MIN));
  store_value(a->type, key, greatest, value);
  for (int d = a->d.dims - 1; at && d >= 0; d--) {
    at[d] = b.index % a->d.shape[d];
    b.index /= a->d.shape[d];
  }
  return RG_SUCCESS;
}

int rg_array_min(rg_array a, const int64_t lo[], const int64_t hi[], void *least, int64_t at[]) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  return find_extreme(__func__, &operand, 0, least, at);
}

int rg_array_max(rg_array a, const int64_t lo[], const int64_t hi[], void *greatest, int64_t at[]) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  return find_extreme(__func__, &operand, 1, greatest, at);
}
