/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the ranks run on. All collective over comm, with the same result on all
 * its ranks. */
#ifndef MCMC_MACHINE_H
#define MCMC_MACHINE_H

#include <mpi.h>

/* Whether all ranks are on one node (and so read the same clock). */
int mcmc_one_node(MPI_Comm comm);

/* How many processors the ranks may use together, over all nodes. */
int mcmc_processors(MPI_Comm comm);

#endif
