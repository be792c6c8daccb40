/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the calls of MPI's fault-tolerance extension share. */
#ifndef RGI_ULFM_CALLS_H
#define RGI_ULFM_CALLS_H

#include "mpi/fault/fault_comm.h"

/* The state of a call's communicator; without one the call returns. */
#define RGI_ULFM_STATE(state, comm)                                                                \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  if (!state)                                                                                      \
  return rgi_ulfm_refuse(__func__, comm)

/* Where there is no state: another communicator's error, or that of a job that tolerates none. */
int rgi_ulfm_refuse(const char *call, MPI_Comm comm);

/* MPI's code for the library's error, by the communicator's handler. */
int rgi_ulfm_raise(rgi_fault_comm *state, int error);

#endif
