/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A communicator of this process alone that returns its errors: MPI is asked on it what it takes,
 * without an error handler of the application's being called. */
#ifndef RGI_SELF_COMM_H
#define RGI_SELF_COMM_H

#include <mpi.h>

/* Made by the first call; MPI_COMM_NULL: there is none, as MPI has no more communicators. Local. */
MPI_Comm rgi_self_comm(void);

/* At the end of the library, while MPI runs. */
void rgi_self_comm_free(void);

#endif
