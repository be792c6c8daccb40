/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which of MPI's operations are defined on which of its types. */
#ifndef RGI_OP_CHECK_H
#define RGI_OP_CHECK_H

#include <mpi.h>

/* RG_ERR_ARG for an operation that is null or is known not to be defined on the
 * type; MPI itself would abort. The user's own operations take any type. */
int rgi_op_check(const char *call, MPI_Datatype type, MPI_Op op);

/* Whether the operation is none of MPI's reductions. */
int rgi_op_is_users(MPI_Op op);

#endif
