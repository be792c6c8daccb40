/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "mpi/fault/fault_guard.h"

#include "base/error.h"
#include "formation/group.h"
#include "mpich/mpich.h"
#include "shm/failure.h"

void rgi_fault_guard_begin(rgi_fault_guard *guard, rgi_fault_comm *state, rg_group g) {
  guard->state = state;
  PMPI_Comm_get_errhandler(state->comm, &guard->handler);
  PMPI_Comm_set_errhandler(state->comm, MPI_ERRORS_RETURN);
  rgi_group_check_member("MPI", g); /* sets the failure scope */
  rgi_mpich_interrupt_begin(RGI_MPICH_INTERRUPT_ANY);
}

int rgi_fault_guard_end(rgi_fault_guard *guard, int code, const char *call) {
  int error = rgi_mpich_interrupt_end(code ? RG_ERR_MPI : RG_SUCCESS, call);
  rgi_failure_scope_now = (rgi_failure_scope){0};
  PMPI_Comm_set_errhandler(guard->state->comm, guard->handler);
  return error && rgi_fault_comm_is_revoked(guard->state) ? rgi_fault_comm_check(guard->state, call)
                                                          : error;
}
