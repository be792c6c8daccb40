/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/apply.h"

#include <limits.h>
#include <stdint.h>

#include "runtime/error.h"

/* The commonest are done here: MPI's own call costs more than a short sum. */
#define SUM(T)                                                                                     \
  do {                                                                                             \
    const T *restrict a = in;                                                                      \
    T *restrict b = inout;                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
      b[i] = a[i] + b[i];                                                                          \
    return RG_SUCCESS;                                                                             \
  } while (0)

static int sum(const void *in, void *inout, size_t count, MPI_Datatype type) {
  if (type == MPI_DOUBLE)
    SUM(double);
  if (type == MPI_FLOAT)
    SUM(float);
  if (type == MPI_INT || type == MPI_INT32_T)
    SUM(uint32_t); /* wraps, as MPI's does, without being undefined */
  if (type == MPI_LONG || type == MPI_INT64_T || type == MPI_LONG_LONG)
    SUM(uint64_t);
  return RG_ERR_UNSUPPORTED;
}

int rgi_apply(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op) {
  MPI_Aint low, extent;
  if (op == MPI_SUM && sum(in, inout, count, type) == RG_SUCCESS)
    return RG_SUCCESS;
  MPI_Type_get_extent(type, &low, &extent);
  while (count > 0) {
    int n = count < INT_MAX ? (int)count : INT_MAX;
    RGI_TRY_MPI(MPI_Reduce_local(in, inout, n, type, op));
    in = (const char *)in + n * extent;
    inout = (char *)inout + n * extent;
    count -= (size_t)n;
  }
  return RG_SUCCESS;
}
