/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops of MPI's built-in operations for the processor's vector instructions: all of them on
 * all types but long doubles, longer ones, pairs with these, and Fortran's logicals. */
#ifndef RGI_OP_KERNEL_H
#define RGI_OP_KERNEL_H

#include <mpi.h>

#include "collectives/op_loop.h"

typedef struct {
  rgi_op_loop *run; /* NULL: there is none for this type and operation */
  size_t units;     /* of an element */
} rgi_op_kernel;

rgi_op_kernel rgi_op_kernel_of(MPI_Datatype type, MPI_Op op);

#endif
