/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How far one may go from x in the direction v until an element meets its bound, as a loop over the
 * rows of boxes (box.h). */
#include <math.h>
#include <regroup/array_math.h>
#include <regroup/collectives.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/type.h"
#include "math/box.h"
#include "math/typed_loops.h"

/* In the order of the public function's result; the greatest one negated, so that all are minima.
 */
typedef struct {
  int bounded; /* bounds are given */
  double least[3];
} step_total;

static double step_of(double x, double v, double lower, double upper) {
  return v > 0                      ? (upper - x) / v
         : v < 0                    ? (lower - x) / v
         : x == lower || x == upper ? 0
                                    : HUGE_VAL;
}

#define LOOP(TYPE, name, type, work)                                                               \
  static void steps_##name(void *context, int64_t n, char *const at[]) {                           \
    step_total *total = context;                                                                   \
    const type *x = (const type *)(const void *)at[0], *v = (const type *)(const void *)at[1],     \
               *lower = (const type *)(const void *)at[2],                                         \
               *upper = (const type *)(const void *)at[3];                                         \
    for (int64_t i = 0; i < n; i++) {                                                              \
      double t = step_of((double)x[i], (double)v[i], total->bounded ? (double)lower[i] : 0,        \
                         total->bounded ? (double)upper[i] : HUGE_VAL);                            \
      total->least[0] = fmin(total->least[0], t);                                                  \
      total->least[1] = v[i] != 0 ? fmin(total->least[1], t) : total->least[1];                    \
      total->least[2] = fmin(total->least[2], -t);                                                 \
    }                                                                                              \
  }
RGI_EACH_ORDERED(LOOP)

#define ENTRY(TYPE, name, type, work) [TYPE] = steps_##name,
static rgi_box_row *const loops[RG_TYPE_COUNT] = {RGI_EACH_ORDERED(ENTRY)};

int rg_array_step_bounds(int n, const rg_array_patch patch[], double step[3]) {
  rgi_operand operand[RGI_BOX_OPERANDS];
  step_total total = {n == 4, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
  RGI_REQUIRE(step);
  if (n != 2 && n != 4)
    return rgi_error(RG_ERR_ARG, "%s: %d patches; there may be 2 or 4", __func__, n);
  RGI_TRY(rgi_operands_make(__func__, n, patch, operand));
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand[0]));
  rg_array a = operand[0].a;
  if (rgi_type_is_complex(a->type))
    return rgi_error(RG_ERR_ARG, "%s: complex numbers have no order", __func__);
  RGI_TRY(rgi_operands_begin(__func__, n, operand));
  int error = rgi_box_rows(n, operand, loops[a->type], &total);
  RGI_TRY(rgi_group_error_share(a->group, __func__, error));
  RGI_TRY(rg_allreduce(a->group, MPI_IN_PLACE, total.least, 3, MPI_DOUBLE, MPI_MIN));
  step[0] = total.least[0];
  step[1] = total.least[1];
  step[2] = -total.least[2];
  return RG_SUCCESS;
}
