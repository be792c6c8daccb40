/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements of an MPI datatype to and from dense bytes, which all algorithms move, and
 * reductions of them. */
#ifndef RGI_TYPED_H
#define RGI_TYPED_H

#include "formation/datatype.h"

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
