/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements of an MPI datatype in memory. A message carries dense bytes: the elements one after
 * another, without gaps, as MPI_Pack lays them out. Elements of most types lie dense in memory. */
#ifndef RGI_DATATYPE_H
#define RGI_DATATYPE_H

#include <mpi.h>
#include <stddef.h>

typedef struct {
  MPI_Datatype type;
  size_t size;     /* bytes of an element without gaps */
  MPI_Aint extent; /* from one element to the next */
  MPI_Aint true_low, true_extent;
  int dense; /* memory is dense as it is */
} rgi_datatype;

/* RG_ERR_ARG for MPI_DATATYPE_NULL. */
int rgi_datatype_of(const char *call, MPI_Datatype type, rgi_datatype *t);

/* count elements in memory to and from dense bytes. */
int rgi_datatype_pack(const rgi_datatype *t, const void *memory, size_t count, void *dense);
int rgi_datatype_unpack(const rgi_datatype *t, const void *dense, size_t count, void *memory);

/* Element i of memory. */
static inline char *rgi_datatype_element(const rgi_datatype *t, const void *memory, MPI_Aint i) {
  char *at;
  __builtin_memcpy(&at, &memory, sizeof at); /* drops const: the caller knows which it is */
  return at ? at + i * t->extent : at;
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
