/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements of an MPI datatype in memory. What is sent are dense bytes: the elements one after
 * another, without gaps, as MPI_Pack lays them out. For most types that is how they lie in
 * memory anyway. */
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
} rgi_typed;

/* RG_ERR_ARG for MPI_DATATYPE_NULL. */
int rgi_typed_of(const char *call, MPI_Datatype type, rgi_typed *t);

#endif
