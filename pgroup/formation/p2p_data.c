/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/p2p_data.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/runtime.h"

/* The commonest types need no question to MPI. */
static size_t common_size(MPI_Datatype type) {
  if (type == MPI_BYTE || type == MPI_CHAR || type == MPI_PACKED)
    return 1;
  if (type == MPI_INT)
    return sizeof(int);
  if (type == MPI_LONG)
    return sizeof(long);
  if (type == MPI_DOUBLE)
    return sizeof(double);
  return 0;
}

/* Whether the parts lie in memory in their order: a derived type may name them in
 * any, so that sizes alone do not tell. */
static int in_order(MPI_Datatype type) {
  int ints, addresses, types, combiner, count[1], inner;
  MPI_Aint unused[1];
  MPI_Datatype old;
  MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED)
    return 1;
  if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || ints > 1 ||
      addresses > 0 || types != 1)
    return 0;
  MPI_Type_get_contents(type, ints, addresses, types, count, unused, &old);
  int answer = in_order(old);
  MPI_Type_get_envelope(old, &ints, &addresses, &types, &inner);
  if (inner != MPI_COMBINER_NAMED)
    MPI_Type_free(&old);
  return answer;
}

static int look_at_type(MPI_Datatype type, rgi_data *d) {
  MPI_Count size, low, extent, true_low, true_extent;
  d->size = common_size(type);
  d->extent = (MPI_Aint)d->size;
  d->dense = d->size > 0;
  if (d->dense)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Type_size_x(type, &size));
  RGI_TRY_MPI(MPI_Type_get_extent_x(type, &low, &extent));
  RGI_TRY_MPI(MPI_Type_get_true_extent_x(type, &true_low, &true_extent));
  d->size = (size_t)size;
  d->extent = (MPI_Aint)extent;
  d->dense =
      size == 0 || (size == extent && true_low == 0 && true_extent == size && in_order(type));
  return RG_SUCCESS;
}

int rgi_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                rgi_data *d) {
  if (count < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements", call, (long long)count);
  if (type == MPI_DATATYPE_NULL)
    return rgi_error(RG_ERR_ARG, "%s: the datatype is MPI_DATATYPE_NULL", call);
  d->type = type;
  RGI_TRY(look_at_type(type, d));
  if (__builtin_mul_overflow((size_t)count, d->size, &d->bytes) || d->bytes > PTRDIFF_MAX)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements of %zu bytes are more than memory can hold",
                     call, (long long)count, d->size);
  /* MPI_BOTTOM is NULL too: then the type has the addresses. */
  if (!buf && d->dense && d->bytes > 0)
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", call);
  if (!d->dense && d->size > INT_MAX)
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: elements of %zu bytes with gaps", call, d->size);
  return RG_SUCCESS;
}

static char *element(const rgi_data *d, const void *buf, size_t i) {
  intptr_t at = (intptr_t)buf + (intptr_t)i * d->extent;
  return (char *)at;
}

/* How many elements MPI's ints can count at once. */
static int portion(const rgi_data *d, size_t elements) {
  size_t most = INT_MAX / d->size;
  return (int)(elements < most ? elements : most);
}

int rgi_data_pack(const rgi_data *d, const void *buf, char *dense) {
  size_t count = d->bytes / d->size;
  for (size_t at = 0; at < count;) {
    int n = portion(d, count - at), position = 0;
    RGI_TRY_MPI(MPI_Pack(element(d, buf, at), n, d->type, dense + at * d->size,
                         (int)((size_t)n * d->size), &position, rgi_rt.comm));
    at += (size_t)n;
  }
  return RG_SUCCESS;
}

/* The beginning of an element: the rest of it keeps its values. */
static int unpack_part(const rgi_data *d, const char *dense, size_t bytes, char *to) {
  int position = 0, size = (int)d->size;
  char *whole = malloc(d->size);
  if (!whole)
    return rgi_error(RG_ERR_NOMEM, "no memory to unpack %zu bytes", d->size);
  int error = MPI_Pack(to, 1, d->type, whole, size, &position, rgi_rt.comm);
  memcpy(whole, dense, bytes);
  position = 0;
  if (!error)
    error = MPI_Unpack(whole, size, &position, to, 1, d->type, rgi_rt.comm);
  free(whole);
  return rgi_mpi_error(error, "MPI_Unpack");
}

int rgi_data_unpack(const rgi_data *d, char *dense, size_t bytes, void *buf) {
  size_t count = bytes / d->size, rest = bytes % d->size;
  for (size_t at = 0; at < count;) {
    int n = portion(d, count - at), position = 0;
    RGI_TRY_MPI(MPI_Unpack(dense + at * d->size, (int)((size_t)n * d->size), &position,
                           element(d, buf, at), n, d->type, rgi_rt.comm));
    at += (size_t)n;
  }
  return rest ? unpack_part(d, dense + count * d->size, rest, element(d, buf, count)) : RG_SUCCESS;
}
