/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error-handler guard. MPI reports an error on the communicator of a call, which may be the
 * application's and have any error handler. Between begin and end its errors are returned.
 * Threads that work on the same communicator share one change. */
#ifndef RGI_ERRHANDLER_H
#define RGI_ERRHANDLER_H

#include <mpi.h>

/* Returns a number for rgi_errhandler_end. */
int rgi_errhandler_begin(MPI_Comm comm);

/* Restores the handler. newcomm, unless it is null, gets it, too. */
void rgi_errhandler_end(int entry, MPI_Comm newcomm);

#endif
