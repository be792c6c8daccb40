/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Applying a reduction's operation to arrays of contiguous elements. */
#ifndef RGI_APPLY_H
#define RGI_APPLY_H

#include <mpi.h>
#include <stddef.h>

/* The bytes of one of the commonest types, 0 for others. */
static inline size_t rgi_basic_size(MPI_Datatype type) {
  if (type == MPI_DOUBLE || type == MPI_LONG || type == MPI_INT64_T || type == MPI_UINT64_T)
    return 8;
  if (type == MPI_INT || type == MPI_FLOAT)
    return 4;
  return type == MPI_BYTE || type == MPI_CHAR;
}

/* inout[i] = in[i] op inout[i]: as MPI_Reduce_local, in the order in, inout. */
int rgi_apply(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op);

#endif
