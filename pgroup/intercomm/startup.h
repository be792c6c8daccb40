/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How a process finds out what it was started for: as a part of the job from its beginning, by
 * other processes that spawned it, or to wait in reserve. */
#ifndef RGI_STARTUP_H
#define RGI_STARTUP_H

#include <mpi.h>
#include <regroup/intercomm.h>

typedef struct {
  MPI_Comm world;  /* MPI_COMM_NULL: the process is not needed */
  MPI_Comm parent; /* MPI_COMM_NULL: it was not spawned */
  int started;     /* rg_init was called for it */
} rgi_startup;

/* Collective over MPI_COMM_WORLD, or over the processes outside a reserve that is open. how (may
 * be NULL): must be the same on all of them and fit their number. A process in reserve sleeps
 * here. */
int rgi_startup_enter(const char *call, const rg_inter_options *how, rgi_startup *startup);

/* Takes back rg_init. */
int rgi_startup_end(rgi_startup *startup);

/* A duplicate of comm that returns errors. Errors of the duplication are returned as well,
 * whatever comm's error handler is. */
int rgi_startup_dup(MPI_Comm comm, MPI_Comm *quiet);

#endif
