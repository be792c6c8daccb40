/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI reports an error on the communicator of a call, which may be the
 * application's and have any error handler. Between begin and end its errors are
 * returned; threads that work on the same communicator share one change. */
#ifndef RGI_ERRHANDLER_H
#define RGI_ERRHANDLER_H

#include <mpi.h>

/* Returns a number for rgi_errhandler_end. */
int rgi_errhandler_begin(MPI_Comm comm);

/* newcomm, unless it is null, gets the handler that comm has again. */
void rgi_errhandler_end(int entry, MPI_Comm newcomm);

#endif
