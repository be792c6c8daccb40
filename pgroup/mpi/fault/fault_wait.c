/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How a request ends that is given up:
 * - A receive is cancelled. One that is matched already ends with its message if the sender lives;
 *   otherwise MPI keeps it, and the buffer.
 * - A send to a dead process is left to MPI, which keeps the buffer as long as it needs it. One to
 *   a living process, on a revoked communicator, ends when that process receives the message: each
 *   receives what comes on revoked communicators, in its waits.
 * - A collective is left to MPI. */
#include "mpi/fault/fault_wait.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "mpi/fault/fault_operation.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "shm/process.h"
#include "shm/revocation.h"

/* What a dead process has sent has come so long after its death. */
#define LAST_SECONDS 0.1

enum { LOOKS_FOR_CLOCK = 32, TESTS_AFTER_CANCEL = 50, LOOKS_FOR_DRAIN = 8 };

/* --- messages on revoked communicators ------------------------------------------------------- */

enum { MOST_DRAINED = 64 };

static struct {
  pthread_mutex_t lock;
  MPI_Request request[MOST_DRAINED];
  void *buffer[MOST_DRAINED];
  int n;
} drained = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_drained(void) {
  for (int i = 0; i < drained.n; i++) {
    int done = 0;
    if (PMPI_Test(&drained.request[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
      continue;
    free(drained.buffer[i]);
    drained.n--;
    drained.buffer[i] = drained.buffer[drained.n];
    drained.request[i] = drained.request[drained.n];
    i--;
  }
}

static void drain_comm(rgi_fault_comm *state) {
  MPI_Message message;
  MPI_Status status;
  int found = 0, bytes = 0;
  if (drained.n == MOST_DRAINED || !rgi_fault_comm_is_revoked(state) ||
      PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, state->comm, &found, &message, &status) || !found)
    return;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  void *buffer = malloc((size_t)bytes + 1);
  if (!buffer)
    bytes = 0;
  if (PMPI_Imrecv(buffer, bytes, MPI_BYTE, &message, &drained.request[drained.n]) == MPI_SUCCESS)
    drained.buffer[drained.n++] = buffer;
}

void rgi_fault_wait_drain(void) {
  if (!rgi_fault_comm_on || !rgi_revocation_any() || pthread_mutex_trylock(&drained.lock))
    return;
  end_drained();
  rgi_fault_comm_each(drain_comm);
  pthread_mutex_unlock(&drained.lock);
}

/* --- looking ---------------------------------------------------------------------------------- */

int rgi_fault_wait_look(void) {
  static _Thread_local unsigned looks;
  looks++;
  rgi_fault_operation_progress();
  if (looks % LOOKS_FOR_CLOCK == 0)
    rgi_process_check(rgi_clock_now());
  if (looks % LOOKS_FOR_DRAIN == 0)
    rgi_fault_wait_drain();
  return rgi_process_deaths() || rgi_revocation_any();
}

int rgi_fault_wait_code(int error) {
  return error == RG_ERR_PROC_FAILED ? MPIX_ERR_PROC_FAILED
         : error == RG_ERR_REVOKED   ? MPIX_ERR_REVOKED
         : error == RG_ERR_NOMEM     ? MPI_ERR_NO_MEM
         : error                     ? MPI_ERR_OTHER
                                     : MPI_SUCCESS;
}

int rgi_fault_wait_is_ours(int code) {
  return code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_PROC_FAILED_PENDING ||
         code == MPIX_ERR_REVOKED;
}

int rgi_fault_wait_raise(rgi_fault_comm *state, int code) {
  if (!rgi_fault_wait_is_ours(code))
    return code;
  MPI_Comm comm = state->comm == MPI_COMM_NULL ? MPI_COMM_WORLD : state->comm;
  if (code != MPIX_ERR_PROC_FAILED_PENDING)
    return rgi_intercept_raise(RGI_INTERCEPT_COUNT, comm,
                               code == MPIX_ERR_REVOKED ? RG_ERR_REVOKED : RG_ERR_PROC_FAILED);
  return rgi_intercept_raise_code(comm, code, "regroup: a process that may send has died");
}

/* --- ending --------------------------------------------------------------------------------- */

/* MPI cancels other messages only. */
static int is_message(const rgi_fault_request *noted) {
  return noted->kind == RGI_FAULT_SEND || noted->kind == RGI_FAULT_RECEIVE;
}

static int is_with_the_living(const rgi_fault_request *noted) {
  return is_message(noted) && noted->peer >= 0 &&
         !rgi_process_is_dead(rgi_members_at(noted->state->peers, noted->peer));
}

/* 1: the request has completed after all. */
static int give_up(MPI_Request *request, const rgi_fault_request *noted, MPI_Status *status) {
  MPI_Status end;
  double since = 0;
  int done = 0, cancelled = 0, tests = 0;
  PMPI_Test(request, &done, &end);
  if (!done && noted->kind == RGI_FAULT_RECEIVE)
    PMPI_Cancel(request);
  while (!done) {
    PMPI_Test(request, &done, &end);
    if (done || tests++ < TESTS_AFTER_CANCEL)
      continue;
    double now = rgi_clock_now();
    rgi_process_check(now);
    rgi_fault_wait_drain();
    if (is_with_the_living(noted))
      since = 0;
    else if (since == 0)
      since = now;
    else if (now - since > LAST_SECONDS)
      break;
  }
  if (!done && noted->kind == RGI_FAULT_COLLECTIVE)
    rgi_mpich_freeze_collectives(noted->state->comm);
  if (done)
    PMPI_Test_cancelled(&end, &cancelled);
  else if (noted->persistent)
    rgi_fault_request_give_up(*request);
  else if (is_message(noted))
    PMPI_Request_free(request);
  if (!done && !noted->persistent)
    *request = MPI_REQUEST_NULL;
  if (!done || cancelled)
    return 0;
  if (status != MPI_STATUS_IGNORE)
    *status = end;
  return 1;
}

int rgi_fault_wait_cause(const rgi_fault_request *noted) {
  int error = RG_SUCCESS;
  if (noted->kind == RGI_FAULT_OWN)
    return RG_SUCCESS;
  if (noted->kind == RGI_FAULT_COLLECTIVE)
    return rgi_fault_comm_check(noted->state, "MPI");
  if (noted->kind == RGI_FAULT_PAIR)
    error = rgi_fault_comm_check_peer(noted->state, noted->to, "MPI");
  return error ? error : rgi_fault_comm_check_peer(noted->state, noted->peer, "MPI");
}

rgi_fault_request rgi_fault_wait_collective(rgi_fault_comm *state) {
  rgi_fault_request noted = {.state = state, .kind = RGI_FAULT_COLLECTIVE, .peer = MPI_PROC_NULL};
  noted.error = rgi_fault_wait_look() ? rgi_fault_wait_cause(&noted) : RG_SUCCESS;
  return noted;
}

static void set_error(MPI_Status *status, const rgi_fault_request *noted, int code) {
  if (status == MPI_STATUS_IGNORE)
    return;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  status->MPI_SOURCE = noted->peer;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = code;
}

/* The receiver may have thrown the message away. */
static int is_revoked_send(const rgi_fault_request *noted) {
  return noted->kind == RGI_FAULT_SEND && rgi_revocation_any() &&
         rgi_fault_comm_is_revoked(noted->state);
}

int rgi_fault_wait_step(MPI_Request *request, const rgi_fault_request *noted, int blocking,
                        int *flag, MPI_Status *status) {
  int code = MPI_SUCCESS, error = noted->error;
  if (!error || !noted->persistent) /* else it has not been started */
    code = PMPI_Test(request, flag, status);
  if (code || (*flag && !error && !is_revoked_send(noted)) || (!error && !rgi_fault_wait_look()))
    return code;
  if (!error)
    error = rgi_fault_wait_cause(noted);
  if (!error)
    return MPI_SUCCESS;
  *flag = 1;
  code = rgi_fault_wait_code(error);
  if (code == MPIX_ERR_PROC_FAILED && noted->peer == MPI_ANY_SOURCE &&
      noted->kind == RGI_FAULT_RECEIVE && !blocking)
    code = MPIX_ERR_PROC_FAILED_PENDING;
  else if (!noted->error && *request != MPI_REQUEST_NULL && give_up(request, noted, status) &&
           !is_revoked_send(noted))
    return MPI_SUCCESS;
  set_error(status, noted, code);
  return code;
}

int rgi_fault_wait_end(MPI_Request *request, const rgi_fault_request *noted, int blocking,
                       MPI_Status *status) {
  int flag = 0, code;
  do
    code = rgi_fault_wait_step(request, noted, blocking, &flag, status);
  while (code == MPI_SUCCESS && !flag);
  return code;
}
