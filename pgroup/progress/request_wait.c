/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Waiting for requests, and testing them: one, all, any, some. A thread that waits for one request
 * moves all background requests on. */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "shm/process.h"

static void set_empty(rg_status *status) {
  if (status)
    *status = (rg_status){.source = RG_UNDEFINED, .tag = RG_UNDEFINED};
}

static int end_one(rg_request *request, rg_status *status) {
  if (*request)
    return rgi_request_end(request, status);
  set_empty(status);
  return RG_SUCCESS;
}

static int check_array(const char *call, int64_t n, const rg_request requests[]) {
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld requests", call, (long long)n);
  if (n > 0 && !requests)
    return rgi_error(RG_ERR_ARG, "%s: requests is NULL", call);
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(rgi_request_check(call, &requests[i]));
  return RG_SUCCESS;
}

/* Numbers the error of one of several requests. */
static int number_error(const char *call, int64_t at, int error) {
  const char *text = strdupa(rg_error_detail());
  return rgi_error(error, "%s: requests[%lld]: %s", call, (long long)at, text);
}

static uint32_t read_bell(void) {
  return atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
}

/* --- one request ------------------------------------------------------------------ */

/* Waits until the request is complete. */
static int await_one(rg_request request) {
  rgi_wait wait;
  for (int started = 0;; started = 1) {
    uint32_t bell = read_bell();
    RGI_TRY(rgi_requests_progress_all());
    if (rgi_request_test(request))
      return RG_SUCCESS;
    if (!started) {
      rgi_wait_start(&wait, request->call, request->peer);
      wait.scope = request->scope;
      wait.alone = 1;
    }
    int error = rgi_wait_bell(&wait, rgi_node_bell(), bell, !rgi_progress_busy());
    if ((error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED) &&
        rgi_request_check_failure(request))
      return RG_SUCCESS;
    RGI_TRY(error);
  }
}

int rg_wait(rg_request *request, rg_status *status) {
  RGI_TRY(rgi_request_check(__func__, request));
  if (*request)
    RGI_TRY(await_one(*request));
  return end_one(request, status);
}

/* Tests the request, which may be NULL, without moving messages on. */
static int is_complete(rg_request request) {
  return !request || rgi_request_test(request) || rgi_request_check_failure(request);
}

static int look_once(void) {
  RGI_TRY(rgi_requests_progress_all());
  rgi_process_check(rgi_clock_now());
  return RG_SUCCESS;
}

int rg_test(rg_request *request, int *done, rg_status *status) {
  RGI_REQUIRE(done);
  RGI_TRY(rgi_request_check(__func__, request));
  if (*request)
    RGI_TRY(look_once());
  int complete = is_complete(*request);
  rgi_wait_looked(!complete);
  if (complete)
    RGI_TRY(end_one(request, status));
  *done = complete;
  return RG_SUCCESS;
}

/* --- all of several ------------------------------------------------------------------ */

/* Frees them all; the first error. */
static int end_all(const char *call, int64_t n, rg_request requests[], rg_status statuses[]) {
  int first = RG_SUCCESS;
  char *text = NULL;
  for (int64_t i = 0; i < n; i++) {
    int error = end_one(&requests[i], statuses ? &statuses[i] : NULL);
    if (error && !first) {
      first = number_error(call, i, error);
      text = strdupa(rg_error_detail());
    }
  }
  return first ? rgi_error(first, "%s", text) : RG_SUCCESS;
}

int rg_wait_all(int64_t n, rg_request requests[], rg_status statuses[]) {
  RGI_TRY(check_array(__func__, n, requests));
  for (int64_t i = 0; i < n; i++) {
    int error = requests[i] ? await_one(requests[i]) : RG_SUCCESS;
    if (error)
      return number_error(__func__, i, error);
  }
  return end_all(__func__, n, requests, statuses);
}

int rg_test_all(int64_t n, rg_request requests[], int *done, rg_status statuses[]) {
  int complete = 1;
  RGI_REQUIRE(done);
  RGI_TRY(check_array(__func__, n, requests));
  RGI_TRY(look_once());
  for (int64_t i = 0; i < n; i++)
    complete &= is_complete(requests[i]);
  rgi_wait_looked(!complete);
  if (complete)
    RGI_TRY(end_all(__func__, n, requests, statuses));
  *done = complete;
  return RG_SUCCESS;
}

/* --- any of several, and some -------------------------------------------------------- */

/* The first that is complete; n: none; RG_UNDEFINED: all are NULL. */
static int64_t find_complete(int64_t n, rg_request requests[]) {
  int active = 0;
  for (int64_t i = 0; i < n; i++) {
    active |= requests[i] != NULL;
    if (requests[i] && is_complete(requests[i]))
      return i;
  }
  return active ? n : RG_UNDEFINED;
}

static int has_active(int64_t n, const rg_request requests[]) {
  for (int64_t i = 0; i < n; i++)
    if (requests[i])
      return 1;
  return 0;
}

/* Waits until there is one. */
static int await_any(const char *call, int64_t n, rg_request requests[], int64_t *at) {
  rgi_wait wait;
  *at = RG_UNDEFINED;
  if (!has_active(n, requests)) /* also where the library does not run */
    return RG_SUCCESS;
  rgi_wait_start_unscoped(&wait, call, -1);
  wait.alone = 1;
  for (;;) {
    uint32_t bell = read_bell();
    RGI_TRY(rgi_requests_progress_all());
    *at = find_complete(n, requests);
    if (*at < n)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&wait, rgi_node_bell(), bell, !rgi_progress_busy()));
  }
}

/* Frees request `at`, if there is one, and sets the outputs. */
static int end_any(const char *call, rg_request requests[], int64_t at, int64_t *index,
                   rg_status *status) {
  int error = RG_SUCCESS;
  if (at == RG_UNDEFINED)
    set_empty(status);
  else
    error = rgi_request_end(&requests[at], status);
  if (error)
    return number_error(call, at, error);
  *index = at;
  return RG_SUCCESS;
}

int rg_wait_any(int64_t n, rg_request requests[], int64_t *index, rg_status *status) {
  int64_t at;
  RGI_REQUIRE(index);
  RGI_TRY(check_array(__func__, n, requests));
  RGI_TRY(await_any(__func__, n, requests, &at));
  return end_any(__func__, requests, at, index, status);
}

int rg_test_any(int64_t n, rg_request requests[], int64_t *index, int *done, rg_status *status) {
  RGI_REQUIRE(index);
  RGI_REQUIRE(done);
  RGI_TRY(check_array(__func__, n, requests));
  RGI_TRY(look_once());
  int64_t at = find_complete(n, requests);
  rgi_wait_looked(at == n);
  if (at < n)
    RGI_TRY(end_any(__func__, requests, at, index, status));
  else
    *index = RG_UNDEFINED;
  *done = at < n;
  return RG_SUCCESS;
}

/* Frees the first that is complete and has failed, and returns its error. */
static int end_failed(const char *call, int64_t n, rg_request requests[]) {
  for (int64_t i = 0; i < n; i++)
    if (requests[i] && is_complete(requests[i]) && requests[i]->error)
      return number_error(call, i, rgi_request_end(&requests[i], NULL));
  return RG_SUCCESS;
}

/* Frees all that are complete; how many. One that has failed since end_failed is left to the next
 * call. */
static int64_t end_complete(int64_t n, rg_request requests[], int64_t indices[],
                            rg_status statuses[]) {
  int64_t ended = 0;
  for (int64_t i = 0; i < n; i++)
    if (requests[i] && rgi_request_test(requests[i]) && !requests[i]->error) {
      rgi_request_end(&requests[i], statuses ? &statuses[ended] : NULL);
      indices[ended++] = i;
    }
  return ended;
}

static int check_some(const char *call, int64_t n, const rg_request requests[],
                      const int64_t *count, const int64_t indices[]) {
  if (!count || (n > 0 && !indices))
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", call, count ? "indices" : "count");
  return check_array(call, n, requests);
}

int rg_wait_some(int64_t n, rg_request requests[], int64_t *count, int64_t indices[],
                 rg_status statuses[]) {
  int64_t at;
  RGI_TRY(check_some(__func__, n, requests, count, indices));
  RGI_TRY(await_any(__func__, n, requests, &at));
  RGI_TRY(end_failed(__func__, n, requests));
  *count = at == RG_UNDEFINED ? RG_UNDEFINED : end_complete(n, requests, indices, statuses);
  return RG_SUCCESS;
}

int rg_test_some(int64_t n, rg_request requests[], int64_t *count, int64_t indices[],
                 rg_status statuses[]) {
  RGI_TRY(check_some(__func__, n, requests, count, indices));
  RGI_TRY(look_once());
  int64_t at = find_complete(n, requests);
  rgi_wait_looked(at == n);
  RGI_TRY(end_failed(__func__, n, requests));
  *count = at == RG_UNDEFINED ? RG_UNDEFINED : end_complete(n, requests, indices, statuses);
  return RG_SUCCESS;
}
