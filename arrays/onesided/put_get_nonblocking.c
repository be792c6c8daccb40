/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Put, get and accumulate without waiting. What is in this node's memory is moved before the call
 * returns. A request completes the operations that the engine has started; if there are none,
 * it is NULL. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/engine.h"
#include "onesided/access.h"
#include "progress/request.h"

typedef struct {
  struct rg_request_s request;
  rgi_access_started started;
} access_request;

/* The first error is returned. Releasing the request then waits for the other operations. */
static int test_started(rg_request request, int *done) {
  rgi_access_started *s = &((access_request *)request)->started;
  while (s->n > 0) {
    int over = 0, error = rgi_engine_test(&s->at[s->n - 1], &over);
    if (!error && !over)
      return RG_SUCCESS;
    s->n--;
    if (error)
      return error;
  }
  *done = 1;
  return RG_SUCCESS;
}

static void release_request(rg_request request) {
  rgi_access_started *s = &((access_request *)request)->started;
  while (s->n > 0)
    rgi_engine_wait(&s->at[--s->n]);
  free(s->at);
  free(request);
}

static int open_request(const char *call, rgi_access_started *started, rg_request *request) {
  access_request *t = calloc(1, sizeof *t);
  if (!t)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a request", call);
  t->request.call = call;
  t->request.progress = test_started;
  t->request.release = release_request;
  t->request.peer = -1;
  t->request.background = 1;
  t->started = *started;
  rgi_failure_scope_now = (rgi_failure_scope){0}; /* that of a group may end before the request */
  rgi_request_open(&t->request);
  *request = &t->request;
  return RG_SUCCESS;
}

static int start_access(rgi_access *access, const int64_t lo[], const int64_t hi[],
                        const int64_t ld[], rg_request *request) {
  rgi_access_started started = {0};
  if (!request)
    return rgi_error(RG_ERR_ARG, "%s: request is NULL", access->call);
  access->started = &started;
  rg_request made = NULL;
  int error = rgi_access_patch(access, lo, hi, ld);
  if (!error && started.n > 0)
    error = open_request(access->call, &started, &made);
  if (!error)
    *request = made;
  while (error && started.n > 0)
    rgi_engine_wait(&started.at[--started.n]);
  if (!made)
    free(started.at);
  return error;
}

int rg_array_iput(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                  const int64_t ld[], rg_request *request) {
  rgi_access access = {
      .call = __func__, .a = a, .kind = RGI_ACCESS_KIND_PUT, .buf = (char *)(uintptr_t)buf};
  return start_access(&access, lo, hi, ld, request);
}

int rg_array_iget(rg_array a, const int64_t lo[], const int64_t hi[], void *buf, const int64_t ld[],
                  rg_request *request) {
  rgi_access access = {.call = __func__, .a = a, .kind = RGI_ACCESS_KIND_GET, .buf = buf};
  return start_access(&access, lo, hi, ld, request);
}

int rg_array_iacc(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                  const int64_t ld[], const void *alpha, rg_request *request) {
  rgi_access access = {.call = __func__,
                       .a = a,
                       .kind = RGI_ACCESS_KIND_ACC,
                       .buf = (char *)(uintptr_t)buf,
                       .alpha = alpha};
  return start_access(&access, lo, hi, ld, request);
}
