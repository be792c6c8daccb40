/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Point-to-point messages: a blocking call is a non-blocking one of MPI's and a wait that a death
 * or a revocation ends (fault_wait.h). Sends to a process that is known to be dead, and all on a
 * revoked communicator, are not started; a request for such a one is complete and has the error. */
#include <stdlib.h>

#include "base/error.h"
#include "mpi/fault/fault_wait.h"
#include "mpi/intercept.h"

/* Of a message that is to be started: a receive from the dead may find what they have sent. */
static int find_cause(rgi_fault_comm *state, rgi_fault_kind kind, int peer) {
  if (peer == MPI_PROC_NULL || !rgi_fault_wait_look())
    return RG_SUCCESS;
  if (kind == RGI_FAULT_SEND || rgi_fault_comm_is_revoked(state))
    return rgi_fault_comm_check_peer(state, peer, "MPI");
  return RG_SUCCESS;
}

static int refuse_revoked(rgi_fault_comm *state) {
  return rgi_fault_wait_raise(state, rgi_fault_wait_code(rgi_fault_comm_check(state, "MPI")));
}

#define BLOCKING(function, of_kind, status, start, ...)                                            \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  MPI_Request request;                                                                             \
  int code;                                                                                        \
  if (!state || peer == MPI_PROC_NULL)                                                             \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  const rgi_fault_request noted = {.state = state, .kind = RGI_FAULT_##of_kind, .peer = peer};     \
  if ((code = rgi_fault_wait_code(find_cause(state, noted.kind, peer))) == MPI_SUCCESS) {          \
    if ((code = start) != MPI_SUCCESS)                                                             \
      return code;                                                                                 \
    code = rgi_fault_wait_end(&request, &noted, 1, status);                                        \
  }                                                                                                \
  return rgi_fault_wait_raise(state, code)

#define STARTING(function, of_kind, ...)                                                           \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  if (!state || peer == MPI_PROC_NULL)                                                             \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  const rgi_fault_request noted = {.state = state,                                                 \
                                   .kind = RGI_FAULT_##of_kind,                                    \
                                   .peer = peer,                                                   \
                                   .error = find_cause(state, RGI_FAULT_##of_kind, peer)};         \
  RGI_FAULT_START(noted, function, __VA_ARGS__)

#define PERSISTENT(function, of_kind, ...)                                                         \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  int code = RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                            \
  const rgi_fault_request noted = {                                                                \
      .state = state, .kind = RGI_FAULT_##of_kind, .peer = peer, .persistent = 1};                 \
  if (!code && state && peer != MPI_PROC_NULL)                                                     \
    rgi_fault_request_note(*request, &noted);                                                      \
  return code

#define PAIR(function, ...)                                                                        \
  rgi_fault_comm *state = rgi_fault_comm_find(comm);                                               \
  if (!state)                                                                                      \
    return RGI_INTERCEPT_NEXT(function)(__VA_ARGS__);                                              \
  const rgi_fault_request noted = {.state = state,                                                 \
                                   .kind = RGI_FAULT_PAIR,                                         \
                                   .peer = from,                                                   \
                                   .to = to,                                                       \
                                   .error = find_cause(state, RGI_FAULT_SEND, to)};                \
  RGI_FAULT_START(noted, function, __VA_ARGS__)

/* A send and a receive; one that is MPI_REQUEST_NULL has not been started. */
static int end_both(rgi_fault_comm *state, MPI_Request requests[2], int code, int to, int from,
                    MPI_Status *status) {
  rgi_fault_request receive = {.state = state, .kind = RGI_FAULT_RECEIVE, .peer = from};
  rgi_fault_request send = {.state = state, .kind = RGI_FAULT_SEND, .peer = to};
  int other = MPI_SUCCESS;
  if (code)
    return code;
  if (requests[1] == MPI_REQUEST_NULL)
    send.error = find_cause(state, RGI_FAULT_SEND, to);
  int received = rgi_fault_wait_end(&requests[0], &receive, 1, status);
  if (requests[1] != MPI_REQUEST_NULL)
    other = rgi_fault_wait_end(&requests[1], &send, 1, MPI_STATUS_IGNORE);
  else
    other = rgi_fault_wait_code(send.error);
  return rgi_fault_wait_raise(state, received ? received : other);
}

/* A matched message is noted by its handle, a number like a request's. */
static rgi_fault_request take_message(const MPI_Message *message) {
  rgi_fault_request none = {0};
  if (!rgi_fault_comm_on || !message || *message == MPI_MESSAGE_NO_PROC ||
      *message == MPI_MESSAGE_NULL)
    return none;
  none = rgi_fault_request_find((MPI_Request)*message);
  rgi_fault_request_forget((MPI_Request)*message);
  return none;
}

#define COUNT int
#define FORM(name) name
#include "mpi/fault/fault_messages_forms.h"
#undef COUNT
#undef FORM

#define COUNT MPI_Count
#define FORM(name) name##_c
#include "mpi/fault/fault_messages_forms.h"

/* --- probes ------------------------------------------------------------------------------- */

static int probe_cause(rgi_fault_comm *state, int peer) {
  if (!rgi_fault_wait_look())
    return MPI_SUCCESS;
  return rgi_fault_wait_code(rgi_fault_comm_check_peer(state, peer, "MPI_Probe"));
}

static void note_message(rgi_fault_comm *state, MPI_Message message, const MPI_Status *status) {
  const rgi_fault_request noted = {
      .state = state, .kind = RGI_FAULT_RECEIVE, .peer = status->MPI_SOURCE};
  rgi_fault_request_note((MPI_Request)message, &noted);
}

RG_API int MPI_Probe(int peer, int tag, MPI_Comm comm, MPI_Status *status) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int found = 0, code = MPI_SUCCESS;
  if (!state || peer == MPI_PROC_NULL)
    return RGI_INTERCEPT_NEXT(MPI_Probe)(peer, tag, comm, status);
  while (!found && !code) {
    code = PMPI_Iprobe(peer, tag, comm, &found, status);
    if (!found && !code)
      code = probe_cause(state, peer);
  }
  return rgi_fault_wait_raise(state, code);
}

RG_API int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int code = rgi_mpich_iprobe(peer, tag, comm, flag, status);
  if (!state || peer == MPI_PROC_NULL || code || *flag)
    return code;
  return rgi_fault_wait_raise(state, probe_cause(state, peer));
}

RG_API int MPI_Improbe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                       MPI_Status *status) {
  MPI_Status own;
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  if (!state || peer == MPI_PROC_NULL)
    return rgi_mpich_improbe(peer, tag, comm, flag, message, status);
  int code = rgi_mpich_improbe(peer, tag, comm, flag, message, &own);
  if (code || !*flag)
    return code ? code : rgi_fault_wait_raise(state, probe_cause(state, peer));
  note_message(state, *message, &own);
  if (status != MPI_STATUS_IGNORE)
    *status = own;
  return MPI_SUCCESS;
}

RG_API int MPI_Mprobe(int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int found = 0, code = MPI_SUCCESS;
  if (!state || peer == MPI_PROC_NULL)
    return RGI_INTERCEPT_NEXT(MPI_Mprobe)(peer, tag, comm, message, status);
  while (!found && !code)
    code = MPI_Improbe(peer, tag, comm, &found, message, status); /* raises */
  return code;
}
