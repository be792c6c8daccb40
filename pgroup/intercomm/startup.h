/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How a process finds out what it was started for: as a part of the job, by
 * processes that wanted more, or to wait in reserve. */
#ifndef RGI_STARTUP_H
#define RGI_STARTUP_H

#include <mpi.h>
#include <regroup/intercomm.h>

typedef struct {
  MPI_Comm world;  /* MPI_COMM_NULL: not needed */
  MPI_Comm parent; /* MPI_COMM_NULL: nobody started it */
  int started;     /* rg_init was called */
} rgi_startup;

/* Collective over MPI_COMM_WORLD, or over those outside a reserve that is open. how:
 * compared among them and with their number, or NULL. A process in reserve sleeps
 * here. */
int rgi_startup_enter(const char *call, const rg_inter_options *how, rgi_startup *entry);

/* Takes back rg_init. */
int rgi_startup_end(rgi_startup *entry);

#endif
