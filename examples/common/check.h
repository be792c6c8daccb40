/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Ending the whole job after an error. */
#ifndef COMMON_CHECK_H
#define COMMON_CHECK_H

#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <unistd.h>

/* After what the caller has said: mpiexec may end the job before it has read that. */
static inline void common_abort(int status) {
  usleep(100000);
  MPI_Abort(MPI_COMM_WORLD, status);
}

/* If a call of the library has failed, with a line. */
static inline void check(int error) {
  if (error) {
    fprintf(stderr, "%s: %s\n", rg_error_string(error), rg_error_detail());
    common_abort(1);
  }
}

#endif
