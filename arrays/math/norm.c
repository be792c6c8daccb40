/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Norms: the sum, the greatest absolute value, and the root of the sum of squares. If the squares
 * overflow or vanish in doubles, the sum is computed again with elements scaled by a power of 2. */
#include <math.h>
#include <regroup/array_math.h>
#include <regroup/collectives.h>

#include "base/error.h"
#include "math/box.h"
#include "math/norm.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

/* The sum or maximum of absolute values, or (RG_NORM_2) the sum of squares of the elements times a
 * scale. */
typedef struct {
  double sum, greatest, scale;
  int nan;
} measure;

#define X(i) ((double)x[i] * scale)
#define ABSOLUTE(i) (fabs((double)x[i]))
#define SQUARE(i) (X(i) * X(i))
#define MODULUS(i) (hypot((double)x[2 * (i)], (double)x[2 * (i) + 1]))
#define GREATEST(value)                                                                            \
  for (int64_t i = 0; i < n; i++) {                                                                \
    double v = value(i);                                                                           \
    m->greatest = v > m->greatest ? v : m->greatest;                                               \
    m->nan |= v != v;                                                                              \
  }
#define LOOP(name, type, statement)                                                                \
  static void name(void *context, int64_t n, char *const at[]) {                                   \
    const type *x = (const type *)(const void *)at[0];                                             \
    measure *m = context;                                                                          \
    const double scale = m->scale;                                                                 \
    (void)scale;                                                                                   \
    statement                                                                                      \
  }
#define REAL(TYPE, name, type, work)                                                               \
  LOOP(one_##name, type, RGI_SUM(m->sum, n, ABSOLUTE))                                             \
  LOOP(two_##name, type, RGI_SUM(m->sum, n, SQUARE))                                               \
  LOOP(infinity_##name, type, GREATEST(ABSOLUTE))
#define COMPLEX(TYPE, name, type, work)                                                            \
  LOOP(one_##name##_complex, type, RGI_SUM(m->sum, n, MODULUS))                                    \
  LOOP(two_##name##_complex, type, RGI_SUM(m->sum, 2 * n, SQUARE))                                 \
  LOOP(infinity_##name##_complex, type, GREATEST(MODULUS))
RGI_EACH_ORDERED(REAL)
RGI_EACH_REAL(COMPLEX)

#define ONE(TYPE, name, type, work) [TYPE] = one_##name,
#define TWO(TYPE, name, type, work) [TYPE] = two_##name,
#define INFINITY_(TYPE, name, type, work) [TYPE] = infinity_##name,
static rgi_box_row *const loops[3][RG_TYPE_COUNT] = {
    [RG_NORM_1] = {RGI_EACH_TYPE(ONE)},
    [RG_NORM_2] = {RGI_EACH_TYPE(TWO)},
    [RG_NORM_INFINITY] = {RGI_EACH_TYPE(INFINITY_)}};

static int measure_all(const rgi_operand *operand, rg_norm_kind norm, double scale,
                       double *result) {
  rg_array a = operand->a;
  measure m = {.scale = scale};
  RGI_TRY(rgi_box_rows(1, operand, loops[norm][a->type], &m));
  if (norm != RG_NORM_INFINITY)
    return rg_allreduce(a->group, &m.sum, result, 1, MPI_DOUBLE, MPI_SUM);
  double mine[2] = {m.greatest, m.nan}, all[2];
  RGI_TRY(rg_allreduce(a->group, mine, all, 2, MPI_DOUBLE, MPI_MAX));
  *result = all[1] > 0 ? (double)NAN : all[0];
  return RG_SUCCESS;
}

int rgi_norm_check(const char *call, const rgi_operand *operand, rg_norm_kind norm,
                   const double *result) {
  RGI_TRY(rgi_operand_arithmetic(call, operand));
  if (!result)
    return rgi_error(RG_ERR_ARG, "%s: result is NULL", call);
  if ((int)norm < RG_NORM_1 || norm > RG_NORM_INFINITY)
    return rgi_error(RG_ERR_ARG, "%s: there is no norm %d", call, (int)norm);
  return RG_SUCCESS;
}

int rgi_norm_greatest(const rgi_operand *operand, double *greatest) {
  return measure_all(operand, RG_NORM_INFINITY, 1, greatest);
}

int rgi_norm_out_of_range(double squares) {
  return !(squares > 0x1p-900 && squares < HUGE_VAL);
}

int rgi_norm_2_scaled(const rgi_operand *operand, rgi_norm_squares *squares, double *result) {
  double greatest, sum;
  int exponent;
  RGI_TRY(rgi_norm_greatest(operand, &greatest));
  if (!(greatest > 0 && greatest < HUGE_VAL)) {
    *result = greatest;
    return RG_SUCCESS;
  }
  frexp(greatest, &exponent);
  if (exponent < -1020) /* 2^-exponent is a double, too */
    exponent = -1020;
  RGI_TRY(squares(operand, ldexp(1, -exponent), &sum));
  *result = ldexp(sqrt(sum), exponent);
  return RG_SUCCESS;
}

static int squares_of(const rgi_operand *operand, double scale, double *sum) {
  return measure_all(operand, RG_NORM_2, scale, sum);
}

static int norm_of(const char *call, const rgi_operand *operand, rg_norm_kind norm,
                   double *result) {
  double value;
  RGI_TRY(rgi_norm_check(call, operand, norm, result));
  RGI_TRY(rgi_operands_begin(call, 1, operand));
  RGI_TRY(measure_all(operand, norm, 1, &value));
  if (norm == RG_NORM_2 && rgi_norm_out_of_range(value))
    RGI_TRY(rgi_norm_2_scaled(operand, squares_of, &value));
  else if (norm == RG_NORM_2)
    value = sqrt(value);
  *result = value;
  return RG_SUCCESS;
}

int rg_array_norm(rg_array a, rg_norm_kind norm, double *result) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  return norm_of(__func__, &operand, norm, result);
}

int rg_array_norm_patch(rg_array a, const int64_t lo[], const int64_t hi[], rg_norm_kind norm,
                        double *result) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  return norm_of(__func__, &operand, norm, result);
}
