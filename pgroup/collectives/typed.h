/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements of an MPI datatype in memory. All algorithms move dense bytes: the
 * elements one after another, without gaps, as MPI_Pack lays them out. For most
 * types that is how they lie in memory anyway. */
#ifndef RGI_TYPED_H
#define RGI_TYPED_H

#include <mpi.h>
#include <stddef.h>

typedef struct {
  MPI_Datatype type;
  size_t size;     /* bytes of an element without gaps */
  MPI_Aint extent; /* from one element to the next */
  MPI_Aint true_low, true_extent;
  int dense; /* memory is dense as it is */
} rgi_typed;

/* RG_ERR_ARG for MPI_DATATYPE_NULL. */
int rgi_typed_of(const char *call, MPI_Datatype type, rgi_typed *t);

/* count elements in memory to and from dense bytes. */
int rgi_pack(const rgi_typed *t, const void *memory, size_t count, void *dense);
int rgi_unpack(const rgi_typed *t, const void *dense, size_t count, void *memory);

/* Element i of memory. */
static inline char *rgi_element(const rgi_typed *t, const void *memory, MPI_Aint i) {
  char *at;
  __builtin_memcpy(&at, &memory, sizeof at); /* const or not is the caller's affair */
  return at ? at + i * t->extent : at;
}

/* A reduction's operation on a type. */
typedef struct {
  rgi_typed typed;
  MPI_Op op;
  int commutes;
} rgi_reduction;

/* RG_ERR_ARG for an operation that is null or not defined on the type. */
int rgi_reduction_of(const char *call, MPI_Datatype type, MPI_Op op, rgi_reduction *r);

/* inout[i] = in[i] op inout[i] for dense elements. */
int rgi_combine(const rgi_reduction *r, const void *in, void *inout, size_t bytes);

#endif
