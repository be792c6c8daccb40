/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops of MPI's built-in operations on integers, floats, doubles and complex sums, for the
 * processor's vector instructions. */
#ifndef RGI_OP_KERNEL_H
#define RGI_OP_KERNEL_H

#include <mpi.h>
#include <stddef.h>

/* inout[i] = in[i] op inout[i] for so many units. The two do not overlap, and are aligned as their
 * type is. */
typedef void rgi_op_loop(const void *in, void *inout, size_t units);

typedef struct {
  rgi_op_loop *run; /* NULL: there is none for this type and operation */
  size_t units;     /* of an element */
} rgi_op_kernel;

rgi_op_kernel rgi_op_kernel_of(MPI_Datatype type, MPI_Op op);

#endif
