/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions of dense bytes: elements without gaps are combined where they lie, others are
 * unpacked, combined and packed again. */
#include "collectives/reduction/reduction.h"

#include <stdlib.h>

#include "base/error.h"
#include "collectives/reduction/op.h"
#include "progress/mpi_error.h"

int rgi_reduction_make(const char *call, MPI_Datatype type, MPI_Op op, rgi_reduction *reduction) {
  RGI_TRY(rgi_datatype_of(call, type, &reduction->datatype));
  RGI_TRY(rgi_op_check(call, type, op));
  reduction->op = op;
  reduction->commutes = 1;
  reduction->whole = rgi_op_is_users(op);
  if (op != MPI_SUM && op != MPI_MAX && op != MPI_MIN)
    RGI_TRY_MPI(MPI_Op_commutative(op, &reduction->commutes));
  return RG_SUCCESS;
}

/* Where `count` elements lie as seen from the first one: a program's operation may write to all of
 * an element's extent, also before or behind its data. */
typedef struct {
  MPI_Aint low, high;
} span;

static span span_of(const rgi_datatype *datatype, size_t count) {
  MPI_Aint low, extent, last = (MPI_Aint)(count - 1) * datatype->extent;
  MPI_Type_get_extent(datatype->type, &low, &extent);
  MPI_Aint high = low + extent, true_high = datatype->true_low + datatype->true_extent;
  low = low < datatype->true_low ? low : datatype->true_low;
  high = high > true_high ? high : true_high;
  return (span){low + (last < 0 ? last : 0), high + (last > 0 ? last : 0)};
}

/* Of bytes; malloc aligns so. */
static MPI_Aint round_down(MPI_Aint at) {
  enum { ALIGNED = _Alignof(max_align_t) };
  return (at >= 0 ? at : at - ALIGNED + 1) / ALIGNED * ALIGNED;
}

/* An operation takes elements with their gaps: both vectors are unpacked into memory of their
 * own. */
static int combine_with_gaps(const rgi_reduction *reduction, const void *in, void *inout,
                             size_t count) {
  const rgi_datatype *datatype = &reduction->datatype;
  span all = span_of(datatype, count);
  MPI_Aint low = round_down(all.low);
  size_t length = (size_t)(-round_down(low - all.high));
  char *memory = calloc(2, length);
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "no memory to combine %zu elements", count);
  char *a = memory - low, *b = memory + length - low;
  int error = rgi_datatype_unpack_bytes(datatype, in, count * datatype->size, a);
  if (!error)
    error = rgi_datatype_unpack_bytes(datatype, inout, count * datatype->size, b);
  if (!error)
    error = rgi_op_apply(a, b, count, datatype->type, reduction->op);
  if (!error)
    error = rgi_datatype_pack_bytes(datatype, b, count * datatype->size, inout);
  free(memory);
  return error;
}

/* So many elements at a time are unpacked. */
#define GAPS_AT_ONCE ((size_t)1 << 16)

int rgi_reduction_apply(const rgi_reduction *reduction, const void *in, void *inout, size_t bytes) {
  size_t size = reduction->datatype.size, count = size ? bytes / size : 0;
  if (count == 0)
    return RG_SUCCESS;
  if (reduction->datatype.dense)
    return rgi_op_apply(in, inout, count, reduction->datatype.type, reduction->op);
  for (size_t at = 0, n; at < count; at += n) {
    n = reduction->whole || count - at < GAPS_AT_ONCE ? count - at : GAPS_AT_ONCE;
    RGI_TRY(
        combine_with_gaps(reduction, (const char *)in + at * size, (char *)inout + at * size, n));
  }
  return RG_SUCCESS;
}
