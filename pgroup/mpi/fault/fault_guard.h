/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A blocking call of MPI's on a communicator that ends when one of its processes dies or it is
 * revoked (mpich/mpich.h). Meanwhile the communicator has MPI_ERRORS_RETURN: what MPI makes of the
 * interruption is not the program's error. */
#ifndef RGI_FAULT_GUARD_H
#define RGI_FAULT_GUARD_H

#include "mpi/fault/fault_comm.h"

typedef struct {
  rgi_fault_comm *state;
  MPI_Errhandler handler; /* the program's */
} rgi_fault_guard;

/* g: the communicator's group, or one of its members that may be revoked instead. */
void rgi_fault_guard_begin(rgi_fault_guard *guard, rgi_fault_comm *state, rg_group g);

/* code: MPI's. RG_SUCCESS; RG_ERR_PROC_FAILED or RG_ERR_REVOKED: it was interrupted, or has met the
 * failure itself; RG_ERR_MPI: its error is another one. The handler remains the caller's to free.
 */
int rgi_fault_guard_end(rgi_fault_guard *guard, int code, const char *call);

#endif
