/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The operations of reductions: on which types they are defined, and applying them to arrays of
 * contiguous elements. */
#ifndef RGI_OP_H
#define RGI_OP_H

#include <mpi.h>
#include <stddef.h>

#include "access/kernel.h"

/* inout[i] = in[i] op inout[i]: as MPI_Reduce_local, in the order in, inout. Elements with gaps lie
 * in vectors that are aligned as malloc aligns. */
int rgi_op_apply(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op);

/* RG_ERR_ARG for an operation that is null or is known not to be defined on the
 * type; MPI itself would abort. The user's own operations take any type. */
int rgi_op_check(const char *call, MPI_Datatype type, MPI_Op op);

/* Whether the operation is none of MPI's reductions. */
int rgi_op_is_users(MPI_Op op);

/* The loop of MPI's built-in operation: all of them on all types but long doubles, longer ones,
 * pairs with these, and Fortran's logicals. */
const rgi_kernel *rgi_op_kernel_of(MPI_Datatype type, MPI_Op op);

#endif
