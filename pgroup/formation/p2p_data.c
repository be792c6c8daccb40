/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/p2p_data.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/datatype.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *d) {
  rgi_datatype t;
  if (count < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements", call, (long long)count);
  RGI_TRY(rgi_datatype_of(call, type, &t));
  *d = (rgi_p2p_data){
      .type = type, .size = t.size, .extent = t.extent, .dense = t.dense || t.size == 0};
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

static char *element_at(const rgi_p2p_data *d, const void *buf, size_t i) {
  intptr_t at = (intptr_t)buf + (intptr_t)i * d->extent;
  return (char *)at;
}

/* How many elements MPI's ints can count at once. */
static int elements_at_once(const rgi_p2p_data *d, size_t elements) {
  size_t most = INT_MAX / d->size;
  return (int)(elements < most ? elements : most);
}

int rgi_p2p_data_pack(const rgi_p2p_data *d, const void *buf, char *dense) {
  size_t count = d->bytes / d->size;
  for (size_t at = 0; at < count;) {
    int n = elements_at_once(d, count - at), position = 0;
    RGI_TRY_MPI(MPI_Pack(element_at(d, buf, at), n, d->type, dense + at * d->size,
                         (int)((size_t)n * d->size), &position, rgi_runtime.comm));
    at += (size_t)n;
  }
  return RG_SUCCESS;
}

/* The beginning of an element: the rest of it keeps its values. */
static int unpack_part(const rgi_p2p_data *d, const char *dense, size_t bytes, char *to) {
  int position = 0, size = (int)d->size;
  char *whole = malloc(d->size);
  if (!whole)
    return rgi_error(RG_ERR_NOMEM, "no memory to unpack %zu bytes", d->size);
  int error = MPI_Pack(to, 1, d->type, whole, size, &position, rgi_runtime.comm);
  memcpy(whole, dense, bytes);
  position = 0;
  if (!error)
    error = MPI_Unpack(whole, size, &position, to, 1, d->type, rgi_runtime.comm);
  free(whole);
  return rgi_mpi_error(error, "MPI_Unpack");
}

int rgi_p2p_data_unpack(const rgi_p2p_data *d, char *dense, size_t bytes, void *buf) {
  size_t count = bytes / d->size, rest = bytes % d->size;
  for (size_t at = 0; at < count;) {
    int n = elements_at_once(d, count - at), position = 0;
    RGI_TRY_MPI(MPI_Unpack(dense + at * d->size, (int)((size_t)n * d->size), &position,
                           element_at(d, buf, at), n, d->type, rgi_runtime.comm));
    at += (size_t)n;
  }
  return rest ? unpack_part(d, dense + count * d->size, rest, element_at(d, buf, count))
              : RG_SUCCESS;
}
