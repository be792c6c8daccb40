/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collectives that are MPI's: blocking ones can be interrupted (fault_guard.h); a non-blocking one
 * is noted, and left to MPI when its wait ends in an error. */
#include "base/error.h"
#include "mpi/fault/fault_guard.h"
#include "mpi/fault/fault_wait.h"
#include "mpi/intercept.h"

#define GUARDED(function, ...)                                                                     \
  return rgi_fault_comm_find(comm)                                                                 \
             ? RGI_INTERCEPT_PASS(comm, RGI_FAULT_MPI(function)(__VA_ARGS__))                      \
             : RGI_INTERCEPT_NEXT(function)(__VA_ARGS__)

#define NONBLOCKING(function, ...)                                                                 \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  if (!state)                                                                                      \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  const rgi_fault_request noted = rgi_fault_wait_collective(state);                                \
  RGI_FAULT_START(noted, function, __VA_ARGS__)

RG_API int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(MPI_Ibarrier, comm, request);
}

#define COUNT int
#define DISPL int
#define FORM(name) name
#include "mpi/fault/fault_collectives_forms.h"
#undef COUNT
#undef DISPL
#undef FORM

#define COUNT MPI_Count
#define DISPL MPI_Aint
#define FORM(name) name##_c
#include "mpi/fault/fault_collectives_forms.h"
