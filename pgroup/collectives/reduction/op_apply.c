/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Applying an operation: by a loop of access/kernel.h where there is one, else by MPI_Reduce_local.
 * The loops are faster than MPI's; besides, MPICH 4.0 takes minimum and maximum of unsigned
 * integers as if they were signed, Open MPI 4.1 takes those of MPI_UNSIGNED_LONG so, and those of
 * MPI_OFFSET as if it were unsigned; and its sums of short integers saturate. */
#include "collectives/reduction/op.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "progress/mpi_error.h"

static int reduce_local(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op,
                        MPI_Aint extent) {
  while (count > 0) {
    int n = count < INT_MAX ? (int)count : INT_MAX;
    RGI_TRY_MPI(MPI_Reduce_local(in, inout, n, type, op));
    in = (const char *)in + n * extent;
    inout = (char *)inout + n * extent;
    count -= (size_t)n;
  }
  return RG_SUCCESS;
}

/* Programs' operations take their vectors for aligned as malloc aligns; those in shared memory need
 * not be. */
enum { ALIGNED = _Alignof(max_align_t), SHORT = 64 };

static int is_aligned(const void *memory) {
  return (uintptr_t)memory % ALIGNED == 0;
}

/* Of elements without gaps. */
static int reduce_copies(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op,
                         MPI_Aint extent) {
  _Alignas(ALIGNED) char two_short[2 * SHORT];
  size_t bytes = count * (size_t)extent, second = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  char *copies = bytes <= SHORT ? two_short : malloc(second + bytes);
  if (!copies)
    return rgi_error(RG_ERR_NOMEM, "no memory to combine %zu elements", count);
  memcpy(copies, in, bytes);
  memcpy(copies + second, inout, bytes);
  int error = reduce_local(copies, copies + second, count, type, op, extent);
  memcpy(inout, copies + second, bytes);
  if (copies != two_short)
    free(copies);
  return error;
}

int rgi_op_apply(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op) {
  MPI_Aint low, extent;
  const rgi_kernel *kernel = rgi_op_kernel_of(type, op);
  if (kernel->run) {
    kernel->run(in, inout, count * kernel->units);
    return RG_SUCCESS;
  }
  MPI_Type_get_extent(type, &low, &extent);
  int good = is_aligned(in) && is_aligned(inout);
  return (good ? reduce_local : reduce_copies)(in, inout, count, type, op, extent);
}
