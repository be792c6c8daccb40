/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_COMM_WORLD of the program in a job with processes in reserve: libregroup-world.so puts
 * another communicator in its place (mpi/world/world.c). */
#ifndef RGI_FAULT_WORLD_H
#define RGI_FAULT_WORLD_H

#include <mpi.h>

/* Before main, in a process that is to have a guard: where RG_RESERVE asks for processes in reserve
 * the program starts anew, with libregroup-world.so before this library. */
void rgi_fault_world_preload(void);

/* From now on MPI_COMM_WORLD stands for this communicator. RG_ERR_UNSUPPORTED: libregroup-world.so
 * is missing. */
int rgi_fault_world_set(MPI_Comm comm);

/* What it stands for. */
MPI_Comm rgi_fault_world_now(void);

#endif
