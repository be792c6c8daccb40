/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Wait, MPI_Test and their relatives. As long as nothing has happened, requests are looked at
 * by MPI's test of all, any or some of them; then one by one. A wait for several ends with the
 * first error: those that have not ended are MPI_ERR_PENDING in their statuses, or are still
 * active. */
#include <stdlib.h>

#include "base/error.h"
#include "mpi/fault/fault_operation.h"
#include "mpi/fault/fault_wait.h"
#include "mpi/intercept.h"

/* --- one ------------------------------------------------------------------------------------- */

/* Of no operation. */
static int give_empty(int *flag, MPI_Status *status) {
  MPI_Request none = MPI_REQUEST_NULL;
  return PMPI_Test(&none, flag, status);
}

/* No handler has been called for the extension's codes. *state stays until the caller drops it. */
static int look_at(MPI_Request *request, int *flag, MPI_Status *status, rgi_fault_comm **state) {
  MPI_Request was = *request;
  rgi_fault_request noted = {0};
  *state = NULL;
  if (was != MPI_REQUEST_NULL)
    noted = rgi_fault_request_find(was);
  if (noted.given_up && !noted.active)
    return give_empty(flag, status);
  if (!noted.state || (noted.persistent && !noted.active))
    return PMPI_Test(request, flag, status);
  if (noted.finishes) {
    rgi_fault_operation_finish(was);
    noted = rgi_fault_request_find(was); /* it may have an error now */
  }
  int code = rgi_fault_wait_step(request, &noted, 0, flag, status);
  if (!*flag && !code)
    return MPI_SUCCESS;
  if (rgi_fault_wait_is_ours(code)) {
    rgi_fault_comm_use(noted.state);
    *state = noted.state;
  }
  if (code != MPIX_ERR_PROC_FAILED_PENDING)
    rgi_fault_request_end(was);
  return code;
}

static int raise_and_drop(rgi_fault_comm *state, int code) {
  if (!state)
    return code;
  code = rgi_fault_wait_raise(state, code);
  rgi_fault_comm_drop(state);
  return code;
}

RG_API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  rgi_fault_comm *state;
  if (!rgi_fault_comm_on)
    return rgi_mpich_test(request, flag, status);
  int code = look_at(request, flag, status, &state);
  return raise_and_drop(state, code);
}

RG_API int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  rgi_fault_comm *state = NULL;
  int flag = 0, code = MPI_SUCCESS;
  if (!rgi_fault_comm_on || *request == MPI_REQUEST_NULL)
    return rgi_mpich_wait(request, status);
  while (!flag && !code) {
    code = look_at(request, &flag, status, &state);
    rgi_fault_wait_look(); /* for a request that is not known, too */
  }
  return raise_and_drop(state, code);
}

/* --- several --------------------------------------------------------------------------------- */

/* The requests before a call, to be forgotten after it. */
enum { FEW = 64 };

typedef struct {
  MPI_Request few[FEW], *all;
} request_copy;

static int copy_requests(request_copy *copy, int n, const MPI_Request requests[]) {
  rgi_fault_request_mark();
  copy->all = n <= FEW ? copy->few : malloc((size_t)n * sizeof *requests);
  for (int i = 0; copy->all && i < n; i++)
    copy->all[i] = requests[i];
  return copy->all != NULL;
}

static void free_copy(request_copy *copy) {
  if (copy->all != copy->few)
    free(copy->all);
}

static int is_quiet(void) {
  return !rgi_fault_wait_look() && !rgi_fault_request_special();
}

/* Whether MPI would look at it. One that is not known and persistent counts as active. */
static int is_active(MPI_Request request) {
  rgi_fault_request noted = {0};
  if (request != MPI_REQUEST_NULL)
    noted = rgi_fault_request_find(request);
  return request != MPI_REQUEST_NULL && !(noted.persistent && !noted.active);
}

/* Looks at each once. Returns how many have not ended; *error: the first one's code. ended: of
 * each, also from earlier looks. */
static int look_at_each(int n, MPI_Request requests[], MPI_Status statuses[], char ended[],
                        int *error, rgi_fault_comm **state) {
  int left = 0;
  for (int i = 0; i < n; i++) {
    MPI_Status own;
    rgi_fault_comm *its = NULL;
    int flag = 0;
    if (ended[i])
      continue;
    int code = look_at(&requests[i], &flag, &own, &its);
    ended[i] = flag || code;
    left += !ended[i];
    own.MPI_ERROR = ended[i] ? code : MPI_ERR_PENDING;
    if (statuses != MPI_STATUSES_IGNORE)
      statuses[i] = own;
    if (code && !*error) {
      *error = code;
      *state = its;
    } else if (its)
      rgi_fault_comm_drop(its);
  }
  return left;
}

static int end_each(int code, rgi_fault_comm *state) {
  if (code)
    raise_and_drop(state, code);
  return code ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

/* All, once something has happened; waits: until all have ended or one has an error. */
static int end_all(int n, MPI_Request requests[], int *flag, MPI_Status statuses[], int waits) {
  char *ended = calloc((size_t)n + 1, 1);
  rgi_fault_comm *state = NULL;
  int left, code = MPI_SUCCESS;
  if (!ended)
    return MPI_ERR_NO_MEM;
  do
    left = look_at_each(n, requests, statuses, ended, &code, &state);
  while (waits && left && !code);
  free(ended);
  *flag = !left || code;
  return end_each(code, state);
}

/* As MPI_Testall does, none ends before all have. */
static int all_have_ended(int n, const MPI_Request requests[]) {
  for (int i = 0; i < n; i++) {
    int flag = 1;
    rgi_fault_request noted = {0};
    if (requests[i] == MPI_REQUEST_NULL)
      continue;
    noted = rgi_fault_request_find(requests[i]);
    if (noted.error)
      return 1;
    if (noted.given_up || (noted.finishes && rgi_fault_operation_is_due(requests[i])))
      continue;
    if (PMPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag &&
        !(noted.state && rgi_fault_wait_cause(&noted)))
      return 0;
  }
  return 1;
}

static int test_quietly(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  request_copy copy;
  if (!copy_requests(&copy, n, requests))
    return MPI_ERR_NO_MEM;
  int code = PMPI_Testall(n, requests, flag, statuses);
  for (int i = 0; i < n && (code || *flag); i++)
    if (copy.all[i] != MPI_REQUEST_NULL)
      rgi_fault_request_end(copy.all[i]);
  free_copy(&copy);
  return code;
}

RG_API int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  int flag = 0, code = MPI_SUCCESS;
  if (!rgi_fault_comm_on)
    return rgi_mpich_waitall(n, requests, statuses);
  while (!flag && !code && is_quiet())
    code = test_quietly(n, requests, &flag, statuses);
  return flag || code ? code : end_all(n, requests, &flag, statuses, 1);
}

RG_API int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  if (!rgi_fault_comm_on)
    return rgi_mpich_testall(n, requests, flag, statuses);
  if (is_quiet())
    return test_quietly(n, requests, flag, statuses);
  *flag = 0;
  return all_have_ended(n, requests) ? end_all(n, requests, flag, statuses, 0) : MPI_SUCCESS;
}

/* The first that has ended. *at: MPI_UNDEFINED if none is active. */
static int test_any(int n, MPI_Request requests[], int *at, int *flag, MPI_Status *status) {
  int active = 0;
  *at = MPI_UNDEFINED;
  *flag = 0;
  for (int i = 0; i < n; i++) {
    rgi_fault_comm *state = NULL;
    if (!is_active(requests[i]))
      continue;
    active = 1;
    int code = look_at(&requests[i], flag, status, &state);
    if (*flag || code) {
      *at = i;
      *flag = 1;
      return raise_and_drop(state, code);
    }
  }
  *flag = !active;
  return MPI_SUCCESS;
}

static int test_any_quietly(int n, MPI_Request requests[], int *at, int *flag, MPI_Status *status) {
  request_copy copy;
  if (!copy_requests(&copy, n, requests))
    return MPI_ERR_NO_MEM;
  int code = PMPI_Testany(n, requests, at, flag, status);
  if (*flag && *at != MPI_UNDEFINED)
    rgi_fault_request_end(copy.all[*at]);
  free_copy(&copy);
  return code;
}

static int look_for_any(int n, MPI_Request requests[], int *at, int *flag, MPI_Status *status) {
  return is_quiet() ? test_any_quietly(n, requests, at, flag, status)
                    : test_any(n, requests, at, flag, status);
}

RG_API int MPI_Testany(int n, MPI_Request requests[], int *at, int *flag, MPI_Status *status) {
  return rgi_fault_comm_on ? look_for_any(n, requests, at, flag, status)
                           : rgi_mpich_testany(n, requests, at, flag, status);
}

RG_API int MPI_Waitany(int n, MPI_Request requests[], int *at, MPI_Status *status) {
  int flag = 0, code = MPI_SUCCESS;
  if (!rgi_fault_comm_on)
    return rgi_mpich_waitany(n, requests, at, status);
  while (!flag && !code)
    code = look_for_any(n, requests, at, &flag, status);
  return code;
}

/* All that have ended. *done: MPI_UNDEFINED if none is active. */
static int test_some(int n, MPI_Request requests[], int *done, int at[], MPI_Status statuses[]) {
  int active = 0, error = MPI_SUCCESS, found = 0;
  rgi_fault_comm *first = NULL;
  for (int i = 0; i < n; i++) {
    rgi_fault_comm *state = NULL;
    MPI_Status own;
    int flag = 0;
    if (!is_active(requests[i]))
      continue;
    active = 1;
    int code = look_at(&requests[i], &flag, &own, &state);
    if (!flag && !code)
      continue;
    own.MPI_ERROR = code;
    if (statuses != MPI_STATUSES_IGNORE)
      statuses[found] = own;
    at[found++] = i;
    if (code && !error) {
      error = code;
      first = state;
    } else if (state)
      rgi_fault_comm_drop(state);
  }
  *done = active ? found : MPI_UNDEFINED;
  return end_each(error, first);
}

static int test_some_quietly(int n, MPI_Request requests[], int *done, int at[],
                             MPI_Status statuses[]) {
  request_copy copy;
  if (!copy_requests(&copy, n, requests))
    return MPI_ERR_NO_MEM;
  int code = PMPI_Testsome(n, requests, done, at, statuses);
  for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++)
    rgi_fault_request_end(copy.all[at[i]]);
  free_copy(&copy);
  return code;
}

static int look_for_some(int n, MPI_Request requests[], int *done, int at[],
                         MPI_Status statuses[]) {
  return is_quiet() ? test_some_quietly(n, requests, done, at, statuses)
                    : test_some(n, requests, done, at, statuses);
}

RG_API int MPI_Testsome(int n, MPI_Request requests[], int *done, int at[], MPI_Status statuses[]) {
  return rgi_fault_comm_on ? look_for_some(n, requests, done, at, statuses)
                           : rgi_mpich_testsome(n, requests, done, at, statuses);
}

RG_API int MPI_Waitsome(int n, MPI_Request requests[], int *done, int at[], MPI_Status statuses[]) {
  int code = MPI_SUCCESS;
  if (!rgi_fault_comm_on)
    return rgi_mpich_waitsome(n, requests, done, at, statuses);
  do
    code = look_for_some(n, requests, done, at, statuses);
  while (!code && *done == 0);
  return code;
}

/* --- the rest of a request's life ------------------------------------------------------------ */

/* Only receives from the dead are started: they may find what these have sent. */
static int start_noted(MPI_Request *request, const rgi_fault_request *noted) {
  int error = RG_SUCCESS, code = MPI_SUCCESS;
  if (rgi_fault_wait_look() && (noted->kind != RGI_FAULT_RECEIVE || noted->given_up ||
                                rgi_fault_comm_is_revoked(noted->state)))
    error = rgi_fault_wait_cause(noted);
  if (!error)
    code = PMPI_Start(request);
  if (!code)
    rgi_fault_request_start(*request, error);
  return code;
}

RG_API int MPI_Start(MPI_Request *request) {
  rgi_fault_request noted = {0};
  if (rgi_fault_comm_on && request && *request != MPI_REQUEST_NULL)
    noted = rgi_fault_request_find(*request);
  return noted.persistent ? start_noted(request, &noted) : RGI_INTERCEPT_NEXT(MPI_Start)(request);
}

RG_API int MPI_Startall(int n, MPI_Request requests[]) {
  int code = MPI_SUCCESS;
  if (!rgi_fault_comm_on)
    return RGI_INTERCEPT_NEXT(MPI_Startall)(n, requests);
  for (int i = 0; i < n && !code; i++)
    code = MPI_Start(&requests[i]);
  return code;
}

/* What would end in an error counts as complete. */
RG_API int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  rgi_fault_request noted = {0};
  if (rgi_fault_comm_on && request != MPI_REQUEST_NULL)
    noted = rgi_fault_request_find(request);
  if (noted.given_up && !noted.active)
    return give_empty(flag, status);
  int code = rgi_mpich_request_get_status(request, flag, status);
  if (!noted.state || code || *flag || (noted.persistent && !noted.active))
    return code;
  rgi_fault_wait_look();
  *flag = noted.finishes ? rgi_fault_operation_is_due(request)
                         : rgi_fault_wait_cause(&noted) != RG_SUCCESS;
  return *flag && status != MPI_STATUS_IGNORE ? PMPI_Status_set_elements(status, MPI_BYTE, 0)
                                              : MPI_SUCCESS;
}

RG_API int MPI_Request_free(MPI_Request *request) {
  MPI_Request was = request ? *request : MPI_REQUEST_NULL;
  rgi_fault_request_mark();
  int code = MPI_SUCCESS, given_up = 0;
  if (rgi_fault_comm_on && was != MPI_REQUEST_NULL)
    given_up = rgi_fault_request_find(was).given_up;
  if (given_up) /* MPI would wait for it */
    *request = MPI_REQUEST_NULL;
  else
    code = RGI_INTERCEPT_NEXT(MPI_Request_free)(request);
  if (rgi_fault_comm_on && !code)
    rgi_fault_request_forget(was);
  return code;
}
