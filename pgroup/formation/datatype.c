/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Pack takes ints for counts and sizes: larger data are packed in several calls. Types that lie
 * dense in memory, and are not permuted by a derived type, are copied without MPI. */
#include "formation/datatype.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

/* The most common types need no call of MPI. */
static size_t common_size(MPI_Datatype type) {
  if (type == MPI_BYTE || type == MPI_CHAR || type == MPI_SIGNED_CHAR ||
      type == MPI_UNSIGNED_CHAR || type == MPI_PACKED)
    return 1;
  if (type == MPI_INT || type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T)
    return 4;
  if (type == MPI_FLOAT)
    return sizeof(float);
  if (type == MPI_DOUBLE)
    return sizeof(double);
  if (type == MPI_LONG || type == MPI_UNSIGNED_LONG)
    return sizeof(long);
  if (type == MPI_INT64_T || type == MPI_UINT64_T || type == MPI_LONG_LONG)
    return 8;
  return 0;
}

/* Whether elements lie in memory as MPI_Pack lays them out. A derived type may
 * name its parts in any order, so that sizes alone do not tell. */
static int in_order(MPI_Datatype type) {
  int ints, addresses, types, combiner;
  MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED)
    return 1;
  if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || ints > 1 ||
      addresses > 0 || types != 1)
    return 0;
  int count[1], inner;
  MPI_Aint unused[1];
  MPI_Datatype old;
  MPI_Type_get_contents(type, ints, addresses, types, count, unused, &old);
  int answer = in_order(old);
  MPI_Type_get_envelope(old, &ints, &addresses, &types, &inner);
  if (inner != MPI_COMBINER_NAMED)
    MPI_Type_free(&old);
  return answer;
}

int rgi_datatype_of(const char *call, MPI_Datatype type, rgi_datatype *t) {
  MPI_Count size, low, extent, true_low, true_extent;
  size_t common = common_size(type);
  if (common) {
    *t = (rgi_datatype){type, common, (MPI_Aint)common, 0, (MPI_Aint)common, 1};
    return RG_SUCCESS;
  }
  if (type == MPI_DATATYPE_NULL)
    return rgi_error(RG_ERR_ARG, "%s: the datatype is MPI_DATATYPE_NULL", call);
  RGI_TRY_MPI(MPI_Type_size_x(type, &size));
  RGI_TRY_MPI(MPI_Type_get_extent_x(type, &low, &extent));
  RGI_TRY_MPI(MPI_Type_get_true_extent_x(type, &true_low, &true_extent));
  *t = (rgi_datatype){.type = type,
                      .size = (size_t)size,
                      .extent = (MPI_Aint)extent,
                      .true_low = (MPI_Aint)true_low,
                      .true_extent = (MPI_Aint)true_extent};
  t->dense = size == extent && true_low == 0 && true_extent == size && in_order(type);
  return RG_SUCCESS;
}

/* --- packing ----------------------------------------------------------------------- */

/* How many elements, at most count, one call of MPI can take; 0: not even one. */
static int int_count(const rgi_datatype *t, size_t count) {
  size_t most = t->size ? (size_t)INT_MAX / t->size : INT_MAX;
  return (int)(count < most ? count : most);
}

static int too_large(const rgi_datatype *t) {
  return rgi_error(RG_ERR_UNSUPPORTED, "elements of %zu bytes with gaps are too large", t->size);
}

/* Element i, also of MPI_BOTTOM, from which the type's addresses count. */
static char *element_at(const rgi_datatype *t, const void *memory, size_t i) {
  intptr_t at = (intptr_t)memory + (intptr_t)i * t->extent;
  return (char *)at;
}

int rgi_datatype_pack(const rgi_datatype *t, const void *memory, size_t count, void *dense) {
  char *to = dense;
  if (t->dense) {
    if (count && t->size)
      memcpy(to, memory, count * t->size);
    return RG_SUCCESS;
  }
  for (size_t at = 0; at < count;) {
    int n = int_count(t, count - at), position = 0;
    if (n == 0)
      return too_large(t);
    RGI_TRY_MPI(MPI_Pack(element_at(t, memory, at), n, t->type, to + at * t->size,
                         (int)((size_t)n * t->size), &position, rgi_runtime.comm));
    at += (size_t)n;
  }
  return RG_SUCCESS;
}

int rgi_datatype_unpack(const rgi_datatype *t, const void *dense, size_t count, void *memory) {
  const char *from = dense;
  if (t->dense) {
    if (count && t->size)
      memcpy(memory, from, count * t->size);
    return RG_SUCCESS;
  }
  for (size_t at = 0; at < count;) {
    int n = int_count(t, count - at), position = 0;
    if (n == 0)
      return too_large(t);
    RGI_TRY_MPI(MPI_Unpack(from + at * t->size, (int)((size_t)n * t->size), &position,
                           element_at(t, memory, at), n, t->type, rgi_runtime.comm));
    at += (size_t)n;
  }
  return RG_SUCCESS;
}
