/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions of dense bytes: elements without gaps are combined where they lie, others are
 * unpacked, combined and packed again. */
#include "collectives/reduction.h"

#include <stdlib.h>

#include "base/error.h"
#include "collectives/op_apply.h"
#include "collectives/op_check.h"
#include "progress/mpi_error.h"

int rgi_reduction_make(const char *call, MPI_Datatype type, MPI_Op op, rgi_reduction *r) {
  RGI_TRY(rgi_datatype_of(call, type, &r->datatype));
  RGI_TRY(rgi_op_check(call, type, op));
  r->op = op;
  r->commutes = 1;
  r->whole = rgi_op_is_users(op);
  if (op != MPI_SUM && op != MPI_MAX && op != MPI_MIN)
    RGI_TRY_MPI(MPI_Op_commutative(op, &r->commutes));
  return RG_SUCCESS;
}

/* An operation takes elements with their gaps: both vectors are unpacked into memory of their
 * own. */
static int combine_with_gaps(const rgi_reduction *r, const void *in, void *inout, size_t count) {
  const rgi_datatype *t = &r->datatype;
  MPI_Aint last = (MPI_Aint)(count - 1) * t->extent;
  MPI_Aint low = t->true_low + (last < 0 ? last : 0);
  size_t span = (size_t)((last < 0 ? -last : last) + t->true_extent);
  char *memory = calloc(2, span);
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "no memory to combine %zu elements", count);
  char *a = memory - low, *b = memory + span - low;
  int error = rgi_datatype_unpack_bytes(t, in, count * t->size, a);
  if (!error)
    error = rgi_datatype_unpack_bytes(t, inout, count * t->size, b);
  if (!error)
    error = rgi_op_apply(a, b, count, t->type, r->op);
  if (!error)
    error = rgi_datatype_pack_bytes(t, b, count * t->size, inout);
  free(memory);
  return error;
}

/* So many elements at a time are unpacked. */
#define GAPS_AT_ONCE ((size_t)1 << 16)

int rgi_reduction_apply(const rgi_reduction *r, const void *in, void *inout, size_t bytes) {
  size_t size = r->datatype.size, count = size ? bytes / size : 0;
  if (count == 0)
    return RG_SUCCESS;
  if (r->datatype.dense)
    return rgi_op_apply(in, inout, count, r->datatype.type, r->op);
  for (size_t at = 0, n; at < count; at += n) {
    n = r->whole || count - at < GAPS_AT_ONCE ? count - at : GAPS_AT_ONCE;
    RGI_TRY(combine_with_gaps(r, (const char *)in + at * size, (char *)inout + at * size, n));
  }
  return RG_SUCCESS;
}
