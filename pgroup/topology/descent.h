/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making communicators of hardware levels, level by level downwards. */
#ifndef RGI_DESCENT_H
#define RGI_DESCENT_H

#include <mpi.h>

#include "topology/level_call.h"

/* Collective over comm. Fills comms and, if rooted, roots: *levels of them. */
int rgi_descent_run(const rgi_level_call *c, MPI_Comm comm, MPI_Comm comms[], MPI_Comm roots[],
                    int *levels);

#endif
