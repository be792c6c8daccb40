/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Applying an operation: loops for the commonest sums, since a call of MPI costs more than a
 * short sum, and for minimum and maximum of unsigned integers, which MPI libraries get wrong.
 * All else by MPI_Reduce_local. */
#include "collectives/op_apply.h"

#include <limits.h>
#include <stdint.h>

#include "base/error.h"
#include "progress/mpi_error.h"

#define SUM(T)                                                                                     \
  do {                                                                                             \
    const T *restrict a = in;                                                                      \
    T *restrict b = inout;                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
      b[i] = a[i] + b[i];                                                                          \
    return RG_SUCCESS;                                                                             \
  } while (0)

static int sum_elements(const void *in, void *inout, size_t count, MPI_Datatype type) {
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

/* MPI's unsigned integers, by their size; 0: another type. */
static size_t unsigned_size(MPI_Datatype type) {
  if (type == MPI_UINT64_T)
    return sizeof(uint64_t);
  if (type == MPI_UINT32_T)
    return sizeof(uint32_t);
  if (type == MPI_UINT16_T)
    return sizeof(uint16_t);
  if (type == MPI_UINT8_T || type == MPI_UNSIGNED_CHAR)
    return sizeof(uint8_t);
  if (type == MPI_UNSIGNED)
    return sizeof(unsigned);
  if (type == MPI_UNSIGNED_LONG)
    return sizeof(unsigned long);
  if (type == MPI_UNSIGNED_LONG_LONG)
    return sizeof(unsigned long long);
  return type == MPI_UNSIGNED_SHORT ? sizeof(unsigned short) : 0;
}

#define EXTREME(T)                                                                                 \
  do {                                                                                             \
    const T *restrict a = in;                                                                      \
    T *restrict b = inout;                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
      b[i] = (a[i] < b[i]) == least ? a[i] : b[i];                                                 \
    return RG_SUCCESS;                                                                             \
  } while (0)

/* MPICH 4.0 takes minimum and maximum of unsigned integers as if they were signed, and
 * Open MPI 4.1 those of MPI_UNSIGNED_LONG. */
static int extreme_elements(const void *in, void *inout, size_t count, MPI_Datatype type,
                            int least) {
  switch (unsigned_size(type)) {
  case 1:
    EXTREME(uint8_t);
  case 2:
    EXTREME(uint16_t);
  case 4:
    EXTREME(uint32_t);
  case 8:
    EXTREME(uint64_t);
  default:
    return RG_ERR_UNSUPPORTED;
  }
}

static int apply_inline(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op) {
  if (op == MPI_SUM)
    return sum_elements(in, inout, count, type);
  if (op == MPI_MIN || op == MPI_MAX)
    return extreme_elements(in, inout, count, type, op == MPI_MIN);
  return RG_ERR_UNSUPPORTED;
}

int rgi_op_apply(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op) {
  MPI_Aint low, extent;
  if (apply_inline(in, inout, count, type, op) == RG_SUCCESS)
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
