/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests: their life, and the list of those that every wait moves on. These are the background
 * requests, so that a collective goes on while the process waits for another one, and the requests
 * that the application has freed: no call waits for these. A thread holds the lock while it runs
 * progress functions: each request is moved on by one thread at a time. A request that found an
 * error in one thread keeps its text for the thread that waits for it. */
#include "progress/request.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "progress/progress.h"
#include "shm/failure.h"

#define MAGIC 0x72657175u

static struct {
  pthread_mutex_t lock;
  rg_request first;
  atomic_int listed, busy; /* in the list; background requests of them. Read without the lock */
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_listed(const rg_request request, int more) {
  atomic_fetch_add_explicit(&requests.listed, more, memory_order_relaxed);
  if (request->background)
    atomic_fetch_add_explicit(&requests.busy, more, memory_order_relaxed);
}

static void list_request(rg_request request) {
  request->next = requests.first;
  request->link = &requests.first;
  if (request->next)
    request->next->link = &request->next;
  requests.first = request;
  request->listed = 1;
  count_listed(request, 1);
}

static void unlist_request(rg_request request) {
  if (!request->listed)
    return;
  *request->link = request->next;
  if (request->next)
    request->next->link = request->link;
  request->listed = 0;
  count_listed(request, -1);
}

void rgi_request_open(rg_request request) {
  request->magic = MAGIC;
  request->done = 0;
  request->error = RG_SUCCESS;
  request->text = NULL;
  request->listed = 0;
  request->freed = 0;
  request->status = (rg_status){.source = RG_UNDEFINED, .tag = RG_UNDEFINED};
  request->scope = rgi_failure_scope_now;
  if (!request->background)
    return;
  pthread_mutex_lock(&requests.lock);
  list_request(request);
  pthread_mutex_unlock(&requests.lock);
}

static void end_operation(rg_request request, int error) {
  request->error = error;
  request->done = 1;
  if (error)
    request->text = strdup(rg_error_detail());
  unlist_request(request);
}

static void progress_request(rg_request request) {
  int done = 0,
      error = rgi_failure_cause(&request->scope, request->progress(request, &done), request->call);
  if (done || error)
    end_operation(request, error);
}

int rgi_requests_busy(void) {
  return atomic_load_explicit(&requests.busy, memory_order_relaxed) > 0;
}

static void release_request(rg_request request) {
  free(request->text);
  request->magic = 0;
  request->release(request);
}

/* For a request that the application has freed. */
static void release_freed(rg_request request) {
  if (request->error)
    rgi_log(RGI_LOG_DEBUG, "a freed request has failed: %s",
            request->text ? request->text : request->call);
  release_request(request);
}

/* The caller has the lock, which is given back. */
static void progress_listed(void) {
  rg_request over = NULL;
  for (rg_request r = requests.first, next; r; r = next) {
    next = r->next;
    progress_request(r);
    int failed = r->freed && !r->done ? rgi_failure_check(&r->scope, r->call) : RG_SUCCESS;
    if (failed)
      end_operation(r, failed);
    if (r->freed && r->done) {
      r->next = over;
      over = r;
    }
  }
  pthread_mutex_unlock(&requests.lock);
  for (rg_request r = over, next; r; r = next) {
    next = r->next;
    release_freed(r);
  }
}

static int any_listed(void) {
  return atomic_load_explicit(&requests.listed, memory_order_relaxed) > 0;
}

void rgi_requests_lock(void) {
  pthread_mutex_lock(&requests.lock);
}

void rgi_requests_unlock(void) {
  pthread_mutex_unlock(&requests.lock);
}

void rgi_requests_progress(void) {
  if (!any_listed())
    return;
  pthread_mutex_lock(&requests.lock);
  progress_listed();
}

void rgi_requests_attempt(void) {
  if (any_listed() && pthread_mutex_trylock(&requests.lock) == 0)
    progress_listed();
}

void rgi_requests_drop_freed(void) {
  rg_request over = NULL;
  pthread_mutex_lock(&requests.lock);
  for (rg_request r = requests.first, next; r; r = next) {
    next = r->next;
    if (!r->freed)
      continue;
    unlist_request(r);
    r->next = over;
    over = r;
  }
  pthread_mutex_unlock(&requests.lock);
  for (rg_request r = over, next; r; r = next) {
    next = r->next;
    rgi_log(RGI_LOG_DEBUG, "rg_finalize: a freed request of %s has not ended", r->call);
    release_request(r);
  }
}

void rgi_requests_stop(void) {
  pthread_mutex_lock(&requests.lock);
  while (requests.first) {
    rg_request r = requests.first;
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

int rgi_request_check(const char *call, const rg_request *request) {
  if (!request)
    return rgi_error(RG_ERR_ARG, "%s: request is NULL", call);
  if (*request && (*request)->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: not a request, or done already", call);
  if (*request && !rgi_progress_ready())
    return rgi_error(RG_ERR_NOT_INIT, "%s: call rg_init first", call);
  return RG_SUCCESS;
}

int rgi_request_test(rg_request request) {
  pthread_mutex_lock(&requests.lock);
  if (!request->done)
    progress_request(request);
  int done = request->done;
  pthread_mutex_unlock(&requests.lock);
  return done;
}

int rgi_request_check_failure(rg_request request) {
  int failed = rgi_failure_check(&request->scope, request->call);
  if (!failed)
    return 0;
  pthread_mutex_lock(&requests.lock);
  if (!request->done)
    end_operation(request, failed);
  pthread_mutex_unlock(&requests.lock);
  return 1;
}

int rgi_request_end(rg_request *request, rg_status *status) {
  rg_request r = *request;
  int error = r->error ? rgi_error(r->error, "%s", r->text ? r->text : r->call) : RG_SUCCESS;
  if (status && !error)
    *status = r->status;
  release_request(r);
  *request = NULL;
  return error;
}

int rg_request_free(rg_request *request) {
  RGI_TRY(rgi_request_check(__func__, request));
  rg_request r = *request;
  if (!r)
    return RG_SUCCESS;
  pthread_mutex_lock(&requests.lock);
  if (!r->done)
    progress_request(r);
  int done = r->done;
  r->freed = 1;
  if (!done && !r->listed)
    list_request(r);
  pthread_mutex_unlock(&requests.lock);
  if (done)
    release_freed(r);
  *request = NULL;
  return RG_SUCCESS;
}
