/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions of the elements of an MPI datatype. */
#ifndef RGI_REDUCTION_H
#define RGI_REDUCTION_H

#include "formation/datatype.h"

/* A reduction's operation on a type. */
typedef struct {
  rgi_datatype datatype;
  MPI_Op op;
  int commutes;
  int whole; /* the user's own: all elements of a call are combined at once, as MPICH does */
} rgi_reduction;

/* RG_ERR_ARG for an operation that is null or not defined on the type. */
int rgi_reduction_make(const char *call, MPI_Datatype type, MPI_Op op, rgi_reduction *reduction);

/* inout[i] = in[i] op inout[i] for dense elements. */
int rgi_reduction_apply(const rgi_reduction *reduction, const void *in, void *inout, size_t bytes);

#endif
