/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements of an MPI datatype in memory. A message carries dense bytes: the elements one after
 * another, without gaps, as MPI_Pack lays them out. Elements of most types lie dense in memory. */
#ifndef RGI_DATATYPE_H
#define RGI_DATATYPE_H

#include <limits.h>
#include <mpi.h>
#include <regroup/error.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  MPI_Datatype type;
  size_t size;     /* bytes of an element without gaps */
  MPI_Aint extent; /* from one element to the next */
  MPI_Aint true_low, true_extent;
  int dense; /* memory is dense as it is, or there are no bytes */
} rgi_datatype;

/* RG_ERR_ARG for MPI_DATATYPE_NULL. */
int rgi_datatype_of(const char *call, MPI_Datatype type, rgi_datatype *datatype);

/* The errors of the next two, which are inline: short collectives call them. */
int rgi_datatype_bytes_error(const char *call, const rgi_datatype *datatype, MPI_Count count);
int rgi_datatype_memory_error(const char *call);

/* Whether MPI cannot pack an element. */
static inline int rgi_datatype_is_too_large(const rgi_datatype *datatype) {
  return MPI_VERSION < 4 && !datatype->dense && datatype->size > INT_MAX;
}

/* The dense bytes of count elements. RG_ERR_ARG: count is negative, or memory cannot hold so many
 * bytes; RG_ERR_UNSUPPORTED: an element with gaps is too large for MPI to pack. */
static inline int rgi_datatype_bytes(const char *call, const rgi_datatype *datatype,
                                     MPI_Count count, size_t *bytes) {
  int wrong = count < 0 || __builtin_mul_overflow((size_t)count, datatype->size, bytes) ||
              *bytes > PTRDIFF_MAX || rgi_datatype_is_too_large(datatype);
  return wrong ? rgi_datatype_bytes_error(call, datatype, count) : RG_SUCCESS;
}

/* RG_ERR_ARG if memory is NULL and is to hold bytes. NULL is also MPI_BOTTOM: a type may hold the
 * addresses itself. */
static inline int rgi_datatype_check_memory(const char *call, const rgi_datatype *datatype,
                                            const void *memory, size_t bytes) {
  return memory || bytes == 0 || datatype->true_low != 0 ? RG_SUCCESS
                                                         : rgi_datatype_memory_error(call);
}

/* Elements in memory to and from so many dense bytes, as rgi_datatype_bytes gives them or less.
 * Those that are packed are whole elements. Those that are unpacked may end inside an element,
 * which keeps the rest of its values. RG_ERR_MPI; RG_ERR_NOMEM. */
int rgi_datatype_pack_bytes(const rgi_datatype *datatype, const void *memory, size_t bytes,
                            void *dense);
int rgi_datatype_unpack_bytes(const rgi_datatype *datatype, const void *dense, size_t bytes,
                              void *memory);

/* Element i of memory, also of MPI_BOTTOM, from which the type's addresses count. Drops const: the
 * caller knows which it is. */
static inline char *rgi_datatype_element(const rgi_datatype *datatype, const void *memory,
                                         MPI_Aint i) {
  intptr_t at = (intptr_t)memory + i * datatype->extent;
  return (char *)at;
}

/* The bytes of one of the commonest types, 0 for others. */
static inline size_t rgi_datatype_basic_size(MPI_Datatype type) {
  if (type == MPI_DOUBLE || type == MPI_LONG || type == MPI_INT64_T || type == MPI_UINT64_T)
    return 8;
  if (type == MPI_INT || type == MPI_FLOAT)
    return 4;
  return type == MPI_BYTE || type == MPI_CHAR;
}

#endif
