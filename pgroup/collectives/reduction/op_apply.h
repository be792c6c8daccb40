/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Applying a reduction's operation to arrays of contiguous elements. */
#ifndef RGI_OP_APPLY_H
#define RGI_OP_APPLY_H

#include <mpi.h>
#include <stddef.h>

/* inout[i] = in[i] op inout[i]: as MPI_Reduce_local, in the order in, inout. Elements with gaps lie
 * in vectors that are aligned as malloc aligns. */
int rgi_op_apply(const void *in, void *inout, size_t count, MPI_Datatype type, MPI_Op op);

#endif
