/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Factors of accumulates: MPI's accumulates add, but do not multiply. */
#include "engine/scalar.h"

#include <string.h>

#include "distribution/type.h"

MPI_Datatype rgi_scalar_mpi_type(rg_array_type type, size_t *size) {
  const MPI_Datatype types[] = {[RG_TYPE_INT32] = MPI_INT32_T,
                                [RG_TYPE_INT64] = MPI_INT64_T,
                                [RG_TYPE_FLOAT] = MPI_FLOAT,
                                [RG_TYPE_DOUBLE] = MPI_DOUBLE,
                                [RG_TYPE_OPAQUE] = MPI_BYTE,
                                [RG_TYPE_FLOAT_COMPLEX] = MPI_C_FLOAT_COMPLEX,
                                [RG_TYPE_DOUBLE_COMPLEX] = MPI_C_DOUBLE_COMPLEX};
  *size = rgi_type_size(type, 1);
  return types[type];
}

rgi_scalar rgi_scalar_one(rg_array_type type) {
  rgi_scalar one = {{0}};
  switch (type) {
  case RG_TYPE_INT32:
    one.int32 = 1;
    break;
  case RG_TYPE_INT64:
    one.int64 = 1;
    break;
  case RG_TYPE_FLOAT:
    one.real[0] = 1;
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    one.real[0] = 1;
    break;
  default:
    one.real2[0] = 1;
  }
  return one;
}

int rgi_scalar_is_one(rg_array_type type, const void *alpha) {
  size_t size;
  rgi_scalar one = rgi_scalar_one(type);
  rgi_scalar_mpi_type(type, &size);
  return !alpha || memcmp(alpha, &one, size) == 0;
}

#define MULTIPLY(T)                                                                                \
  do {                                                                                             \
    const T *in = from, *factor = alpha;                                                           \
    T *out = to;                                                                                   \
    for (size_t i = 0; i < n; i++)                                                                 \
      out[i] = *factor * in[i];                                                                    \
  } while (0)

/* Unsigned: overflow wraps around, as MPI's sums do. */
void rgi_scalar_multiply(rg_array_type type, const void *alpha, size_t n, const void *from,
                         void *to) {
  switch (type) {
  case RG_TYPE_INT32:
    MULTIPLY(uint32_t);
    break;
  case RG_TYPE_INT64:
    MULTIPLY(uint64_t);
    break;
  case RG_TYPE_FLOAT:
    MULTIPLY(float);
    break;
  case RG_TYPE_DOUBLE:
    MULTIPLY(double);
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    MULTIPLY(float _Complex);
    break;
  default:
    MULTIPLY(double _Complex);
  }
}
