/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops of MPI's built-in operations: all of them on all types but long doubles, longer ones,
 * pairs with these, and Fortran's logicals. */
#ifndef RGI_OP_KERNEL_H
#define RGI_OP_KERNEL_H

#include <mpi.h>

#include "access/kernel.h"

const rgi_kernel *rgi_op_kernel_of(MPI_Datatype type, MPI_Op op);

#endif
