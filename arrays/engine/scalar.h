/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Single numbers of the types that arrays have. */
#ifndef RGI_SCALAR_H
#define RGI_SCALAR_H

#include <mpi.h>
#include <regroup/array.h>

/* A number of any type; complex ones are two reals. */
typedef union {
  double real2[2];
  float real[2];
  int64_t int64;
  int32_t int32;
} rgi_scalar;

MPI_Datatype rgi_scalar_mpi_type(rg_array_type type, size_t *size);
rgi_scalar rgi_scalar_one(rg_array_type type);

/* Whether alpha is NULL or 1. */
int rgi_scalar_is_one(rg_array_type type, const void *alpha);

/* n elements: to[i] = *alpha * from[i]. */
void rgi_scalar_multiply(rg_array_type type, const void *alpha, size_t n, const void *from,
                         void *to);

#endif
