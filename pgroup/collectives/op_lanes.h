/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops of operations on elements of two numbers side by side: products of complex numbers,
 * and the least and the greatest of pairs with their places. */
#ifndef RGI_OP_LANES_H
#define RGI_OP_LANES_H

#include <mpi.h>

#include "collectives/op_loop.h"

/* NULL: there is none. */
rgi_op_loop *rgi_op_lanes_product(MPI_Datatype type);
rgi_op_loop *rgi_op_lanes_pair(MPI_Datatype type, MPI_Op op);

#endif
