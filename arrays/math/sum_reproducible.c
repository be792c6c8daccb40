/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums, scalar products and norms whose bits depend on the elements alone, not on how they are
 * divided: the terms are added exactly, and the sum is rounded once
 * (collectives/reduction/exact.h). */
#include <regroup/array_math.h>
#include <regroup/collectives.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "collectives/reduction/exact.h"
#include "math/box.h"
#include "math/norm.h"

/* The terms that are added, of element i of each operand. */
typedef enum { VALUE, PRODUCT, ABSOLUTE, SQUARE } exact_term;

typedef struct {
  rgi_exact sum;
  int64_t added; /* since the last carry */
  rg_array_type type;
  exact_term exact_term;
  double scale;
} exact_call;

static double value_of(rg_array_type type, const char *at, int64_t i) {
  if (type == RG_TYPE_FLOAT)
    return (double)((const float *)(const void *)at)[i];
  return ((const double *)(const void *)at)[i];
}

static double exact_term_of(const exact_call *exact, char *const at[], int64_t i) {
  double x = value_of(exact->type, at[0], i);
  switch (exact->exact_term) {
  case PRODUCT:
    return x * value_of(exact->type, at[1], i);
  case ABSOLUTE:
    return fabs(x);
  case SQUARE:
    return (x * exact->scale) * (x * exact->scale);
  default:
    return x;
  }
}

static void add_row(void *context, int64_t n, char *const at[]) {
  exact_call *j = context;
  for (int64_t i = 0; i < n; i++) {
    rgi_exact_add(&j->sum, exact_term_of(j, at, i));
    if (++j->added == RGI_EXACT_CARRY_AFTER) {
      rgi_exact_carry(&j->sum);
      j->added = 0;
    }
  }
}

static int sum_exactly(const char *call, exact_call exact, int n, const rgi_operand operand[],
                       double *result) {
  rg_array a = operand[0].a;
  exact.type = a->type;
  int error = rgi_box_rows(n, operand, add_row, &exact),
      one_node = a->one_node && operand[n - 1].a->one_node;
  if (!one_node)
    RGI_TRY(rgi_group_error_share(a->group, call, error));
  rgi_exact_carry(&exact.sum);
  RGI_TRY(rg_allreduce(a->group, MPI_IN_PLACE, &exact.sum, RGI_EXACT_WORDS, MPI_INT64_T, MPI_SUM));
  *result = rgi_exact_round(&exact.sum, 53, 0);
  return RG_SUCCESS;
}

/* exact: the term and its scale. */
static int sum_all(const char *call, exact_call exact, int n, const rgi_operand operand[],
                   double *result) {
  rgi_exact_environment environment;
  rgi_exact_begin(&environment);
  int error = sum_exactly(call, exact, n, operand, result);
  rgi_exact_end(&environment);
  return error;
}

static int check_real(const char *call, rg_array a) {
  if (a->type != RG_TYPE_FLOAT && a->type != RG_TYPE_DOUBLE)
    return rgi_error(RG_ERR_ARG, "%s: the elements are neither RG_TYPE_FLOAT nor RG_TYPE_DOUBLE",
                     call);
  return RG_SUCCESS;
}

int rg_array_sum_reproducible(rg_array a, double *sum) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_REQUIRE(sum);
  RGI_TRY(check_real(__func__, a));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return sum_all(__func__, (exact_call){.exact_term = VALUE}, 1, &operand, sum);
}

int rg_array_dot_reproducible(rg_array a, rg_array b, double *dot) {
  rgi_operand operand[2];
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, b, NULL, NULL, &operand[1]));
  RGI_REQUIRE(dot);
  RGI_TRY(check_real(__func__, a));
  RGI_TRY(rgi_operands_alike(__func__, &operand[0], &operand[1]));
  RGI_TRY(rgi_operands_together(__func__, &operand[0], &operand[1]));
  RGI_TRY(rgi_operands_begin(__func__, 2, operand));
  return sum_all(__func__, (exact_call){.exact_term = PRODUCT}, 2, operand, dot);
}

static int squares_of(const rgi_operand *operand, double scale, double *sum) {
  exact_call j = {.exact_term = SQUARE, .scale = scale};
  return sum_all("rg_array_norm_reproducible", j, 1, operand, sum);
}

int rg_array_norm_reproducible(rg_array a, rg_norm_kind norm, double *result) {
  rgi_operand operand;
  double squares;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_TRY(rgi_norm_check(__func__, &operand, norm, result));
  RGI_TRY(check_real(__func__, a));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  if (norm == RG_NORM_INFINITY)
    return rgi_norm_greatest(&operand, result);
  if (norm == RG_NORM_1)
    return sum_all(__func__, (exact_call){.exact_term = ABSOLUTE}, 1, &operand, result);
  RGI_TRY(squares_of(&operand, 1, &squares));
  if (rgi_norm_out_of_range(squares))
    return rgi_norm_2_scaled(&operand, squares_of, result);
  *result = sqrt(squares);
  return RG_SUCCESS;
}
