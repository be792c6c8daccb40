/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A job with processes in reserve (RG_RESERVE): MPI_COMM_WORLD is without them, they wait in
 * MPI_Init until MPI_Comm_spawn takes them, and then have an MPI_COMM_WORLD and a parent of their
 * own. */
#ifndef RGI_FAULT_SPAWN_H
#define RGI_FAULT_SPAWN_H

#include <mpi.h>

/* At the end of MPI_Init, on all processes: parts the world where RG_RESERVE says so. One in
 * reserve returns when it is spawned; at the job's end it does not return. Returns an error of the
 * library's. */
int rgi_fault_spawn_begin(void);

/* In MPI_Finalize, first: this process spawns no more. */
void rgi_fault_spawn_end(void);

/* The program has freed a communicator that MPI keeps. */
void rgi_fault_spawn_forget(MPI_Comm comm);

/* The values of MPI_UNIVERSE_SIZE and MPI_APPNUM; NULL: MPI's. */
int *rgi_fault_spawn_attribute(int key);

#endif
