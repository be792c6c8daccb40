/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests: testing, waiting, and the list of those in the background. A thread that waits for one
 * request moves all background requests on, so that a collective goes on while the process waits
 * for another one. The lock is held while progress functions run: each request is moved on by one
 * thread at a time. A request that found an error in one thread keeps its text for the thread that
 * waits for it. */
#include "progress/request.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "progress/progress.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

#define MAGIC 0x72657175u

static struct {
  pthread_mutex_t lock;
  rg_request background;
  atomic_int busy; /* length of the list, to be read without the lock */
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void unlist_request(rg_request r) {
  *r->link = r->next;
  if (r->next)
    r->next->link = r->link;
  atomic_fetch_sub_explicit(&requests.busy, 1, memory_order_relaxed);
}

void rgi_request_open(rg_request r) {
  r->magic = MAGIC;
  r->done = 0;
  r->error = RG_SUCCESS;
  r->text = NULL;
  r->status = (rg_status){-1, -1, 0};
  r->scope = rgi_failure_scope_now;
  if (!r->background)
    return;
  pthread_mutex_lock(&requests.lock);
  r->next = requests.background;
  r->link = &requests.background;
  if (r->next)
    r->next->link = &r->next;
  requests.background = r;
  atomic_fetch_add_explicit(&requests.busy, 1, memory_order_relaxed);
  pthread_mutex_unlock(&requests.lock);
}

static void progress_request(rg_request r) {
  int done = 0;
  r->error = rgi_failure_cause(&r->scope, r->progress(r, &done), r->call);
  r->done = done || r->error;
  if (r->error)
    r->text = strdup(rg_error_detail());
  if (r->done && r->background)
    unlist_request(r);
}

int rgi_requests_busy(void) {
  return atomic_load_explicit(&requests.busy, memory_order_relaxed) > 0;
}

void rgi_requests_progress(void) {
  if (!rgi_requests_busy())
    return;
  pthread_mutex_lock(&requests.lock);
  for (rg_request r = requests.background, next; r; r = next) {
    next = r->next;
    progress_request(r);
  }
  pthread_mutex_unlock(&requests.lock);
}

void rgi_requests_stop(void) {
  pthread_mutex_lock(&requests.lock);
  while (requests.background) {
    rg_request r = requests.background;
    r->done = 1;
    r->error = RG_ERR_NOT_INIT;
    r->text = strdup("the library was stopped before the request was done");
    unlist_request(r);
  }
  pthread_mutex_unlock(&requests.lock);
}

int rgi_requests_progress_all(void) {
  RGI_TRY(rgi_progress());
  rgi_requests_progress();
  return RG_SUCCESS;
}

static int check_request(const char *call, const rg_request *request) {
  if (!request)
    return rgi_error(RG_ERR_ARG, "%s: request is NULL", call);
  if (*request && (*request)->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: not a request, or done already", call);
  if (*request && !rgi_progress_ready())
    return rgi_error(RG_ERR_NOT_INIT, "%s: call rg_init first", call);
  return RG_SUCCESS;
}

static int test_request(rg_request r) {
  pthread_mutex_lock(&requests.lock);
  if (!r->done)
    progress_request(r);
  int done = r->done;
  pthread_mutex_unlock(&requests.lock);
  return done;
}

/* Hands out the result and frees the request. */
static int end_request(rg_request *request, rg_status *status) {
  rg_request r = *request;
  int error = r->error ? rgi_error(r->error, "%s", r->text ? r->text : r->call) : RG_SUCCESS;
  if (status)
    *status = r->status;
  free(r->text);
  r->magic = 0;
  r->release(r);
  *request = NULL;
  return error;
}

/* Ends a request that is not done, for a death or a revocation. */
static int fail_request(rg_request r, int error) {
  pthread_mutex_lock(&requests.lock);
  if (!r->done) {
    r->error = error;
    r->text = strdup(rg_error_detail());
    r->done = 1;
    if (r->background)
      unlist_request(r);
  }
  pthread_mutex_unlock(&requests.lock);
  return r->done;
}

static int wait_for_request(const char *call, rg_request *request, rg_status *status) {
  rgi_wait w;
  RGI_TRY(check_request(call, request));
  if (!*request) {
    if (status)
      *status = (rg_status){-1, -1, 0};
    return RG_SUCCESS;
  }
  rgi_wait_start(&w, (*request)->call, (*request)->peer);
  w.scope = (*request)->scope;
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_requests_progress_all());
    if (test_request(*request))
      return end_request(request, status);
    int error = rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy());
    if ((error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED) && fail_request(*request, error))
      return end_request(request, status);
    RGI_TRY(error);
  }
}

int rg_wait(rg_request *request, rg_status *status) {
  return wait_for_request(__func__, request, status);
}

static int look_for_deaths(rg_request r) {
  rgi_process_check(rgi_clock_now());
  return rgi_failure_check(&r->scope, r->call);
}

int rg_test(rg_request *request, int *done, rg_status *status) {
  RGI_REQUIRE(done);
  RGI_TRY(check_request(__func__, request));
  if (*request)
    RGI_TRY(rgi_requests_progress_all());
  if (*request && !test_request(*request)) {
    int failed = look_for_deaths(*request);
    if (!failed || !fail_request(*request, failed)) {
      *done = 0;
      return RG_SUCCESS;
    }
  }
  int error = wait_for_request(__func__, request, status);
  if (!error)
    *done = 1;
  return error;
}

int rg_wait_all(int n, rg_request requests_[], rg_status statuses[]) {
  int first = RG_SUCCESS;
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %d requests", __func__, n);
  if (n > 0)
    RGI_REQUIRE(requests_);
  for (int i = 0; i < n; i++) {
    int error = wait_for_request(__func__, &requests_[i], statuses ? &statuses[i] : NULL);
    if (!first)
      first = error;
  }
  return first;
}
