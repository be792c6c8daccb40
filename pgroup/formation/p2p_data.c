/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/p2p_data.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *d) {
  if (count < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements", call, (long long)count);
  RGI_TRY(rgi_datatype_of(call, type, &d->datatype));
  size_t size = d->datatype.size;
  d->dense = d->datatype.dense || size == 0;
  if (__builtin_mul_overflow((size_t)count, size, &d->bytes) || d->bytes > PTRDIFF_MAX)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements of %zu bytes are more than memory can hold",
                     call, (long long)count, size);
  /* NULL is also MPI_BOTTOM: a type with gaps may hold the addresses itself. */
  if (!buf && d->dense && d->bytes > 0)
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", call);
  if (!d->dense && size > INT_MAX)
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: elements of %zu bytes with gaps", call, size);
  return RG_SUCCESS;
}

/* Unpacks the beginning of an element; the rest of the element keeps its values. */
static int unpack_part(const rgi_datatype *t, const char *dense, size_t bytes, char *to) {
  int position = 0, size = (int)t->size;
  char *whole = malloc(t->size);
  if (!whole)
    return rgi_error(RG_ERR_NOMEM, "no memory to unpack %zu bytes", t->size);
  int error = MPI_Pack(to, 1, t->type, whole, size, &position, rgi_runtime.comm);
  memcpy(whole, dense, bytes);
  position = 0;
  if (!error)
    error = MPI_Unpack(whole, size, &position, to, 1, t->type, rgi_runtime.comm);
  free(whole);
  return rgi_mpi_error(error, "MPI_Unpack");
}

int rgi_p2p_data_unpack(const rgi_p2p_data *d, const char *dense, size_t bytes, void *buf) {
  const rgi_datatype *t = &d->datatype;
  size_t count = bytes / t->size, rest = bytes % t->size;
  RGI_TRY(rgi_datatype_unpack(t, dense, count, buf));
  return rest ? unpack_part(t, dense + count * t->size, rest,
                            (char *)((intptr_t)buf + (intptr_t)count * t->extent))
              : RG_SUCCESS;
}
