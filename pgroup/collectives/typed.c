/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/typed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/apply.h"
#include "collectives/operand.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

/* --- packing ----------------------------------------------------------------------- */

/* How many elements MPI's ints can count at once, at most count; 0: not one. */
static int portion(const rgi_typed *t, size_t count) {
  size_t most = t->size ? (size_t)INT_MAX / t->size : INT_MAX;
  return (int)(count < most ? count : most);
}

static int too_large(const rgi_typed *t) {
  return rgi_error(RG_ERR_UNSUPPORTED, "elements of %zu bytes with gaps are too large", t->size);
}

int rgi_pack(const rgi_typed *t, const void *memory, size_t count, void *dense) {
  char *to = dense;
  if (t->dense) {
    if (count && t->size)
      memcpy(to, memory, count * t->size);
    return RG_SUCCESS;
  }
  for (size_t at = 0; at < count;) {
    int n = portion(t, count - at), position = 0;
    if (n == 0)
      return too_large(t);
    RGI_TRY_MPI(MPI_Pack(memory ? rgi_element(t, memory, (MPI_Aint)at) : MPI_BOTTOM, n, t->type,
                         to + at * t->size, (int)((size_t)n * t->size), &position, rgi_rt.comm));
    at += (size_t)n;
  }
  return RG_SUCCESS;
}

int rgi_unpack(const rgi_typed *t, const void *dense, size_t count, void *memory) {
  const char *from = dense;
  if (t->dense) {
    if (count && t->size)
      memcpy(memory, from, count * t->size);
    return RG_SUCCESS;
  }
  for (size_t at = 0; at < count;) {
    int n = portion(t, count - at), position = 0;
    if (n == 0)
      return too_large(t);
    RGI_TRY_MPI(MPI_Unpack(from + at * t->size, (int)((size_t)n * t->size), &position,
                           memory ? rgi_element(t, memory, (MPI_Aint)at) : MPI_BOTTOM, n, t->type,
                           rgi_rt.comm));
    at += (size_t)n;
  }
  return RG_SUCCESS;
}

/* --- combining ----------------------------------------------------------------------- */

int rgi_reduction_of(const char *call, MPI_Datatype type, MPI_Op op, rgi_reduction *r) {
  RGI_TRY(rgi_typed_of(call, type, &r->typed));
  RGI_TRY(rgi_op_check(call, type, op));
  r->op = op;
  r->commutes = 1;
  if (op != MPI_SUM && op != MPI_MAX && op != MPI_MIN)
    RGI_TRY_MPI(MPI_Op_commutative(op, &r->commutes));
  return RG_SUCCESS;
}

/* The operation wants its elements with their gaps: both vectors are laid out in
 * memory of their own. */
static int combine_with_gaps(const rgi_reduction *r, const void *in, void *inout, size_t count) {
  const rgi_typed *t = &r->typed;
  MPI_Aint last = (MPI_Aint)(count - 1) * t->extent;
  MPI_Aint low = t->true_low + (last < 0 ? last : 0);
  size_t span = (size_t)((last < 0 ? -last : last) + t->true_extent);
  char *memory = calloc(2, span);
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "no memory to combine %zu elements", count);
  char *a = memory - low, *b = memory + span - low;
  int error = rgi_unpack(t, in, count, a);
  if (!error)
    error = rgi_unpack(t, inout, count, b);
  if (!error)
    error = rgi_apply(a, b, count, t->type, r->op);
  if (!error)
    error = rgi_pack(t, b, count, inout);
  free(memory);
  return error;
}

/* So many elements at a time are laid out with their gaps. */
#define PORTION ((size_t)1 << 16)

int rgi_combine(const rgi_reduction *r, const void *in, void *inout, size_t bytes) {
  size_t size = r->typed.size, count = size ? bytes / size : 0;
  if (count == 0)
    return RG_SUCCESS;
  if (r->typed.dense)
    return rgi_apply(in, inout, count, r->typed.type, r->op);
  for (size_t at = 0; at < count; at += PORTION) {
    size_t n = count - at < PORTION ? count - at : PORTION;
    RGI_TRY(combine_with_gaps(r, (const char *)in + at * size, (char *)inout + at * size, n));
  }
  return RG_SUCCESS;
}
