/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The native method: MPI_Comm_create_group. */
#include "base/error.h"
#include "formation/comm.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"

int rgi_comm_create_native(const rgi_comm_creation *creation, MPI_Comm *newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  rgi_mpich_interrupt_begin(RGI_MPICH_INTERRUPT_CREATION);
  int code = MPI_Comm_create_group(creation->comm, creation->group, creation->tag, &made);
  int error = rgi_mpich_interrupt_end(rgi_mpi_error(code, "MPI_Comm_create_group"), creation->call);
  if (error && code == MPI_SUCCESS)
    MPI_Comm_free(&made);
  *newcomm = made;
  return error;
}
