/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums of elements, and scalar products. Integers are computed modulo 2^64, everything else is
 * summed in doubles. */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/type.h"
#include "math/box.h"
#include "math/diagonal.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

/* Sums while they are added up: integers modulo 2^64, everything else in doubles. */
typedef struct {
  uint64_t integer;
  double real, imaginary;
} sum_total;

/* Collective: adds all members' totals. */
static int add_totals(rg_array a, sum_total *total) {
  if (rgi_type_is_integer(a->type))
    return rg_allreduce(a->group, MPI_IN_PLACE, &total->integer, 1, MPI_UINT64_T, MPI_SUM);
  double mine[2] = {total->real, total->imaginary}, all[2];
  RGI_TRY(
      rg_allreduce(a->group, mine, all, rgi_type_is_complex(a->type) ? 2 : 1, MPI_DOUBLE, MPI_SUM));
  total->real = all[0];
  total->imaginary = rgi_type_is_complex(a->type) ? all[1] : 0;
  return RG_SUCCESS;
}

/* Stores a total as the caller of the public function gets it: an int64_t for integers, else an
 * element of the type. */
static void store_total(rg_array_type type, const sum_total *total, void *to) {
  const double wide[2] = {total->real, total->imaginary};
  const float narrow[2] = {(float)total->real, (float)total->imaginary};
  if (rgi_type_is_integer(type))
    memcpy(to, &total->integer, sizeof total->integer);
  else if (type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX)
    memcpy(to, narrow, type == RG_TYPE_FLOAT ? sizeof(float) : sizeof narrow);
  else
    memcpy(to, wide, type == RG_TYPE_DOUBLE ? sizeof(double) : sizeof wide);
}

/* --- sums ------------------------------------------------------------------------------------- */

#define INTEGER(TYPE, name, type, work)                                                            \
  static void sum_##name(void *total, int64_t n, char *const at[]) {                               \
    const type *x = (const type *)(const void *)at[0];                                             \
    uint64_t sum = 0;                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
      sum += (uint64_t)(int64_t)x[i];                                                              \
    ((sum_total *)total)->integer += sum;                                                          \
  }
RGI_EACH_INTEGER(INTEGER)

#define AT(i) ((double)x[i])
#define RE(i) ((double)x[2 * (i)])
#define IM(i) ((double)x[2 * (i) + 1])
#define REAL(TYPE, name, type, work)                                                               \
  static void sum_##name(void *total, int64_t n, char *const at[]) {                               \
    const type *x = (const type *)(const void *)at[0];                                             \
    RGI_SUM(((sum_total *)total)->real, n, AT)                                                     \
  }                                                                                                \
  static void sum_##name##_complex(void *total, int64_t n, char *const at[]) {                     \
    const type *x = (const type *)(const void *)at[0];                                             \
    RGI_SUM(((sum_total *)total)->real, n, RE)                                                     \
    RGI_SUM(((sum_total *)total)->imaginary, n, IM)                                                \
  }
RGI_EACH_REAL(REAL)

#define ENTRY(TYPE, name, type, work) [TYPE] = sum_##name,
static rgi_box_row *const sum_loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

int rg_array_sum(rg_array a, const int64_t lo[], const int64_t hi[], void *sum) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand));
  RGI_REQUIRE(sum);
  sum_total total = {0};
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  RGI_TRY(rgi_box_rows(1, &operand, sum_loops[a->type], &total));
  RGI_TRY(add_totals(a, &total));
  store_total(a->type, &total, sum);
  return RG_SUCCESS;
}

int rg_array_trace(rg_array a, void *trace) {
  rgi_operand operand;
  rgi_diagonal part;
  sum_total total = {0};
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_REQUIRE(trace);
  RGI_TRY(rgi_diagonal_check(__func__, &operand));
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  for (rgi_diagonal_start(&part, &operand); rgi_diagonal_next(&part);)
    for (int64_t i = 0; i < part.n; i++, part.ptr += part.step)
      sum_loops[a->type](&total, 1, &part.ptr);
  RGI_TRY(add_totals(a, &total));
  store_total(a->type, &total, trace);
  return RG_SUCCESS;
}

/* --- scalar products -------------------------------------------------------------------------- */

#define DOT_INTEGER(TYPE, name, type, work)                                                        \
  static void dot_##name(void *total, int64_t n, char *const at[]) {                               \
    const type *x = (const type *)(const void *)at[0], *y = (const type *)(const void *)at[1];     \
    uint64_t sum = 0;                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
      sum += (uint64_t)(int64_t)x[i] * (uint64_t)(int64_t)y[i];                                    \
    ((sum_total *)total)->integer += sum;                                                          \
  }
RGI_EACH_INTEGER(DOT_INTEGER)

#define X(i) ((double)x[i])
#define Y(i) ((double)y[i])
#define DOT_AT(i) (X(i) * Y(i))
#define DOT_RE(i) (X(2 * (i)) * Y(2 * (i)) - X(2 * (i) + 1) * Y(2 * (i) + 1))
#define DOT_IM(i) (X(2 * (i)) * Y(2 * (i) + 1) + X(2 * (i) + 1) * Y(2 * (i)))
#define DOT_REAL(TYPE, name, type, work)                                                           \
  static void dot_##name(void *total, int64_t n, char *const at[]) {                               \
    const type *x = (const type *)(const void *)at[0], *y = (const type *)(const void *)at[1];     \
    RGI_SUM(((sum_total *)total)->real, n, DOT_AT)                                                 \
  }                                                                                                \
  static void dot_##name##_complex(void *total, int64_t n, char *const at[]) {                     \
    const type *x = (const type *)(const void *)at[0], *y = (const type *)(const void *)at[1];     \
    RGI_SUM(((sum_total *)total)->real, n, DOT_RE)                                                 \
    RGI_SUM(((sum_total *)total)->imaginary, n, DOT_IM)                                            \
  }
RGI_EACH_REAL(DOT_REAL)

#define DOT_ENTRY(TYPE, name, type, work) [TYPE] = dot_##name,
static rgi_box_row *const dot_loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(DOT_ENTRY)};

static int dot_of(const char *call, const rgi_operand operand[2], void *dot) {
  rg_array a = operand[0].a;
  if (!dot)
    return rgi_error(RG_ERR_ARG, "%s: dot is NULL", call);
  RGI_TRY(rgi_operand_arithmetic(call, &operand[0]));
  RGI_TRY(rgi_operands_alike(call, &operand[0], &operand[1]));
  RGI_TRY(rgi_operands_together(call, &operand[0], &operand[1]));
  sum_total total = {0};
  RGI_TRY(rgi_operands_begin(call, 2, operand));
  int error = rgi_box_rows(2, operand, dot_loops[a->type], &total);
  if (!a->one_node || !operand[1].a->one_node)
    RGI_TRY(rgi_group_error_share(a->group, call, error));
  RGI_TRY(add_totals(a, &total));
  store_total(a->type, &total, dot);
  return RG_SUCCESS;
}

int rg_array_dot(rg_array a, rg_array b, void *dot) {
  rgi_operand operand[2];
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, b, NULL, NULL, &operand[1]));
  return dot_of(__func__, operand, dot);
}

int rg_array_dot_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                       const int64_t blo[], const int64_t bhi[], void *dot) {
  rgi_operand operand[2];
  RGI_TRY(rgi_operand_make(__func__, a, alo, ahi, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, b, blo, bhi, &operand[1]));
  return dot_of(__func__, operand, dot);
}
