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
  const rgi_fault_request noted = describe_collective(state);                                      \
  if (noted.error)                                                                                 \
    return rgi_fault_request_stand_in(&noted, request);                                            \
  int code = RGI_FAULT_MPI(function)(__VA_ARGS__);                                                 \
  if (code == MPI_SUCCESS)                                                                         \
    rgi_fault_request_note(*request, &noted);                                                      \
  return code

static rgi_fault_request describe_collective(rgi_fault_comm *state) {
  return (rgi_fault_request){.state = state,
                             .kind = RGI_FAULT_COLLECTIVE,
                             .peer = MPI_PROC_NULL,
                             .error = rgi_fault_wait_look() ? rgi_fault_comm_check(state, "MPI")
                                                            : RG_SUCCESS};
}

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
