/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums that depend neither on the order of the summands nor on which rank adds which: each rank
 * adds its own exactly (exact.h), an allreduce of integers merges them, and only the end is
 * rounded. */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "collectives/group/coll_of_group.h"
#include "collectives/reduction/exact.h"
#include "collectives/schedule/coll_state.h"

static int merge_sums(const char *call, rg_group g, rgi_exact *exact, MPI_Count columns) {
  rgi_coll *coll;
  RGI_TRY(rgi_coll_get(call, g, &coll));
  return rg_allreduce(g, MPI_IN_PLACE, exact, columns * RGI_EXACT_WORDS, MPI_INT64_T, MPI_SUM);
}

static int check_columns(const char *call, const void *x, MPI_Count n, MPI_Count columns,
                         const void *result) {
  if (n < 0 || columns < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld rows of %lld columns", call, (long long)n,
                     (long long)columns);
  if (columns > 0 && n > PTRDIFF_MAX / (MPI_Count)sizeof(double) / columns)
    return rgi_error(RG_ERR_ARG, "%s: %lld rows of %lld columns are too many", call, (long long)n,
                     (long long)columns);
  if ((!x && n > 0 && columns > 0) || (!result && columns > 0))
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", call);
  return RG_SUCCESS;
}

/* The others are in the allreduce, or come to it. */
static int tell_no_memory(const char *call, rg_group g, MPI_Count columns) {
  rgi_coll *coll;
  RGI_TRY(rgi_coll_get(call, g, &coll));
  return rgi_coll_failure_tell(
      coll, call, rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld sums", call, (long long)columns));
}

static void carry_all(rgi_exact *exact, MPI_Count columns) {
  for (MPI_Count j = 0; j < columns; j++)
    rgi_exact_carry(&exact[j]);
}

int rg_sums_reproducible(rg_group g, const double *x, MPI_Count n, MPI_Count columns,
                         double *result) {
  rgi_exact_environment environment;
  RGI_TRY(check_columns(__func__, x, n, columns, result));
  rgi_exact *exact = calloc(columns ? (size_t)columns : 1, sizeof *exact);
  if (!exact)
    return tell_no_memory(__func__, g, columns);
  rgi_exact_begin(&environment);
  for (MPI_Count i = 0; i < n && columns > 0; i++) {
    for (MPI_Count j = 0; j < columns; j++)
      rgi_exact_add(&exact[j], x[i * columns + j]);
    if (i % RGI_EXACT_CARRY_AFTER == RGI_EXACT_CARRY_AFTER - 1)
      carry_all(exact, columns);
  }
  carry_all(exact, columns);
  int error = merge_sums(__func__, g, exact, columns);
  for (MPI_Count j = 0; j < columns && !error; j++)
    result[j] = rgi_exact_round(&exact[j], 53, 0);
  rgi_exact_end(&environment);
  free(exact);
  return error;
}

int rg_sum_reproducible(rg_group g, const double *x, MPI_Count n, double *result) {
  return rg_sums_reproducible(g, x, n, 1, result);
}

int rg_sum_reproducible_float(rg_group g, const float *x, MPI_Count n, float *result) {
  rgi_exact exact = {{0}, 0, 0, 0};
  rgi_exact_environment environment;
  RGI_TRY(check_columns(__func__, x, n, 1, result));
  rgi_exact_begin(&environment);
  for (MPI_Count i = 0; i < n; i++) {
    rgi_exact_add(&exact, (double)x[i]);
    if (i % RGI_EXACT_CARRY_AFTER == RGI_EXACT_CARRY_AFTER - 1)
      rgi_exact_carry(&exact);
  }
  rgi_exact_carry(&exact);
  int error = merge_sums(__func__, g, &exact, 1);
  if (!error)
    *result = (float)rgi_exact_round(&exact, 24, 1074 - 149);
  rgi_exact_end(&environment);
  return error;
}
