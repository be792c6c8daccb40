/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Persistent collectives and partitioned messages: MPI's, noted when they are made. One that is
 * given up is left to MPI; a process that is known to be dead is sent no partition. */
#include "base/error.h"
#include "mpi/fault/fault_wait.h"
#include "mpi/intercept.h"

/* On a revoked communicator, or after a death, none is made. */
#define PERSISTENT(function, ...)                                                                  \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  if (!state)                                                                                      \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  int code = refuse_broken(state);                                                                 \
  if (!code)                                                                                       \
    code = RGI_FAULT_MPI(function)(__VA_ARGS__);                                                   \
  if (!code)                                                                                       \
    note_persistent(state, RGI_FAULT_COLLECTIVE, MPI_PROC_NULL, *request);                         \
  return code

static int refuse_broken(rgi_fault_comm *state) {
  return rgi_fault_wait_raise(state, rgi_fault_wait_code(rgi_fault_wait_collective(state).error));
}

static void note_persistent(rgi_fault_comm *state, rgi_fault_kind kind, int peer,
                            MPI_Request request) {
  const rgi_fault_request noted = {.state = state, .kind = kind, .peer = peer, .persistent = 1};
  rgi_fault_request_note(request, &noted);
}

RG_API int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(MPI_Barrier_init, comm, info, request);
}

#define COUNT int
#define DISPL int
#define FORM(name) name
#include "mpi/fault/fault_persistent_forms.h"
#undef COUNT
#undef DISPL
#undef FORM

#define COUNT MPI_Count
#define DISPL MPI_Aint
#define FORM(name) name##_c
#include "mpi/fault/fault_persistent_forms.h"

/* --- partitioned messages --------------------------------------------------------------------- */

/* MPI sends to the receiver as soon as the request is made. */
static int refuse_peer(rgi_fault_comm *state, int peer) {
  int error = state && peer != MPI_PROC_NULL && rgi_fault_wait_look()
                  ? rgi_fault_comm_check_peer(state, peer, "MPI_Psend_init")
                  : RG_SUCCESS;
  return error ? rgi_fault_wait_raise(state, rgi_fault_wait_code(error)) : MPI_SUCCESS;
}

static int end_parts(rgi_fault_comm *state, int code, int peer, const MPI_Request *request) {
  if (!code && state && peer != MPI_PROC_NULL)
    note_persistent(state, RGI_FAULT_PARTS, peer, *request);
  return code;
}

RG_API int MPI_Psend_init(const void *buffer, int partitions, MPI_Count count, MPI_Datatype type,
                          int peer, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int code = refuse_peer(state, peer);
  if (!code)
    code = RGI_INTERCEPT_NEXT(MPI_Psend_init)(buffer, partitions, count, type, peer, tag, comm,
                                              info, request);
  return end_parts(state, code, peer, request);
}

RG_API int MPI_Precv_init(void *buffer, int partitions, MPI_Count count, MPI_Datatype type,
                          int peer, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  return end_parts(rgi_fault_comm_find(comm),
                   RGI_INTERCEPT_NEXT(MPI_Precv_init)(buffer, partitions, count, type, peer, tag,
                                                      comm, info, request),
                   peer, request);
}

static rgi_fault_request find_noted(MPI_Request request) {
  const rgi_fault_request none = {0};
  return rgi_fault_comm_on && request != MPI_REQUEST_NULL ? rgi_fault_request_find(request) : none;
}

/* The error that the request has, or is going to have. */
static int error_of(const rgi_fault_request *noted) {
  if (noted->error || !noted->state || !rgi_fault_wait_look())
    return noted->error;
  return rgi_fault_wait_cause(noted);
}

/* The request's wait tells. */
static int is_in_vain(MPI_Request request) {
  const rgi_fault_request noted = find_noted(request);
  return error_of(&noted) != RG_SUCCESS;
}

RG_API int MPI_Pready(int partition, MPI_Request request) {
  return is_in_vain(request) ? MPI_SUCCESS : RGI_INTERCEPT_NEXT(MPI_Pready)(partition, request);
}

RG_API int MPI_Pready_range(int first, int last, MPI_Request request) {
  return is_in_vain(request) ? MPI_SUCCESS
                             : RGI_INTERCEPT_NEXT(MPI_Pready_range)(first, last, request);
}

/* MPI 4.1 has added the const. */
#if MPI_VERSION > 4 || MPI_SUBVERSION >= 1
#define LIST const int
#else
#define LIST int
#endif

RG_API int MPI_Pready_list(int n, LIST partitions[], MPI_Request request) {
  return is_in_vain(request) ? MPI_SUCCESS
                             : RGI_INTERCEPT_NEXT(MPI_Pready_list)(n, partitions, request);
}

RG_API int MPI_Parrived(MPI_Request request, int partition, int *flag) {
  const rgi_fault_request noted = find_noted(request);
  int code = MPI_SUCCESS;
  *flag = 0;
  if (!noted.error)
    code = RGI_INTERCEPT_NEXT(MPI_Parrived)(request, partition, flag);
  int error = code || *flag ? RG_SUCCESS : error_of(&noted);
  return error ? rgi_fault_wait_raise(noted.state, rgi_fault_wait_code(error)) : code;
}
