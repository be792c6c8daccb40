/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The least and the greatest element, or absolute value. Every element has a key, a signed integer
 * that increases (min) or decreases (max) with it. The result is the element with the least key,
 * and of these the one with the lowest index. A NaN has a key greater than that of every number. */
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

/* As integers, the bits of positive doubles increase with them, those of negative ones decrease. */
static int64_t key_real(double x, int greatest) {
  int64_t bits;
  if (x != x)
    return NAN_KEY;
  x = (greatest ? -x : x) + 0.0; /* -0 becomes +0 */
  memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
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

/* Of absolute values: those of integers are negated, since the greatest is no positive integer. */
#define INTEGER_KEY(x, greatest) key_integer((x) < 0 ? (x) : -(int64_t)(x), !(greatest))
#define REAL_KEY(x, greatest) key_real(fabs((double)(x)), greatest)
#define COMPLEX_KEY(x, greatest) key_real(cabs((double _Complex)(x)), greatest)
#define SCAN_KEYS(verb, name, type, key_of, greatest)                                              \
  static int64_t verb##_##name(int64_t n, const char *at, int64_t *place) {                        \
    const type *x = (const type *)(const void *)at;                                                \
    int64_t least = INT64_MAX;                                                                     \
    *place = 0;                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      int64_t key = key_of(x[i], greatest);                                                        \
      *place = key < least ? i : *place;                                                           \
      least = key < least ? key : least;                                                           \
    }                                                                                              \
    return least;                                                                                  \
  }
#define SCAN_INTEGERS(TYPE, name, type, work)                                                      \
  SCAN_KEYS(absmin, name, type, INTEGER_KEY, 0) SCAN_KEYS(absmax, name, type, INTEGER_KEY, 1)
#define SCAN_REALS(TYPE, name, type, work)                                                         \
  SCAN_KEYS(absmin, name, type, REAL_KEY, 0) SCAN_KEYS(absmax, name, type, REAL_KEY, 1)
#define SCAN_COMPLEX(TYPE, name, type, work)                                                       \
  SCAN_KEYS(absmin, name, type, COMPLEX_KEY, 0) SCAN_KEYS(absmax, name, type, COMPLEX_KEY, 1)
RGI_EACH_INTEGER(SCAN_INTEGERS)
RGI_EACH_REAL(SCAN_REALS)
RGI_EACH_COMPLEX(SCAN_COMPLEX)

#define MIN(TYPE, name, type, work) [TYPE] = min_##name,
#define MAX(TYPE, name, type, work) [TYPE] = max_##name,
#define ABSMIN(TYPE, name, type, work) [TYPE] = absmin_##name,
#define ABSMAX(TYPE, name, type, work) [TYPE] = absmax_##name,
static extreme_loop *const min_loops[RG_TYPE_COUNT] = {RGI_EACH_ORDERED(MIN)};
static extreme_loop *const max_loops[RG_TYPE_COUNT] = {RGI_EACH_ORDERED(MAX)};
static extreme_loop *const absmin_loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ABSMIN)};
static extreme_loop *const absmax_loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ABSMAX)};

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

/* The owner of the element with this number gives it to all. */
static int spread_element(rg_array a, int64_t index, void *value, int64_t at[]) {
  int64_t subscript[RG_ARRAY_MAX_DIMS], offset;
  for (int d = a->d.dims - 1; d >= 0; d--) {
    subscript[d] = index % a->d.shape[d];
    index /= a->d.shape[d];
  }
  int owner = rgi_distribution_find(&a->d, subscript, &offset);
  if (owner == a->me)
    memcpy(value, rgi_array_mine(a) + offset * (int64_t)a->element, a->element);
  RGI_TRY(rg_bcast(a->group, value, (MPI_Count)a->element, MPI_BYTE, owner));
  for (int d = 0; at && d < a->d.dims; d++)
    at[d] = subscript[d];
  return RG_SUCCESS;
}

static int find_extreme(const char *call, const rgi_operand *operand, extreme_loop *const loops[],
                        void *value, int64_t at[]) {
  rg_array a = operand->a;
  int64_t key;
  RGI_TRY(rgi_operand_arithmetic(call, operand));
  if (!value)
    return rgi_error(RG_ERR_ARG, "%s: the output is NULL", call);
  if (!loops[a->type])
    return rgi_error(RG_ERR_ARG, "%s: complex numbers have no order", call);
  if (rgi_operand_count(operand) == 0)
    return rgi_error(RG_ERR_ARG, "%s: the patch is empty", call);
  RGI_TRY(rgi_operands_begin(call, 1, operand));
  best b = own_best(operand, loops[a->type]);
  RGI_TRY(rg_allreduce(a->group, &b.key, &key, 1, MPI_INT64_T, MPI_MIN));
  if (b.key != key)
    b.index = INT64_MAX;
  RGI_TRY(rg_allreduce(a->group, MPI_IN_PLACE, &b.index, 1, MPI_INT64_T, MPI_MIN));
  return spread_element(a, b.index, value, at);
}

#define CALL(verb, output)                                                                         \
  int rg_array_##verb(rg_array a, const int64_t lo[], const int64_t hi[], void *output,            \
                      int64_t at[]) {                                                              \
    rgi_operand operand;                                                                           \
    RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));                                      \
    return find_extreme(__func__, &operand, verb##_loops, output, at);                             \
  }
CALL(min, least)
CALL(max, greatest)
CALL(absmin, element)
CALL(absmax, element)
