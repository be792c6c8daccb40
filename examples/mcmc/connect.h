/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI opens a connection at the first message between two ranks, and both must be
 * inside MPI for it. A rank that computes is not: a first request to it would
 * wait for several of its units. So connections are opened in advance. */
#ifndef MCMC_CONNECT_H
#define MCMC_CONNECT_H

#include "run.h"

/* Opens those that trees inside the first groups use and, for the asynchronous
 * policy, those between all leaders. All ranks call. */
void mcmc_connect(mcmc_run *run);

#endif
