/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A list with a lock. A thread that finds it locked goes on with its own wait: the one that has it
 * does the work. */
#include "mpi/fault/fault_operation.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/fault/fault_request.h"

static struct {
  pthread_mutex_t lock;
  rgi_fault_operation *first;
  atomic_int n;
} under_way = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* After it has left the list. */
static void close_operation(rgi_fault_operation *operation, int error) {
  if (error)
    rgi_fault_request_fail(operation->request, error);
  PMPI_Grequest_complete(operation->request);
  rgi_fault_comm_drop(operation->state);
  operation->free(operation);
}

static void step_all(void) {
  for (rgi_fault_operation **at = &under_way.first, *operation; (operation = *at);) {
    int done = 0, error = operation->due ? RG_SUCCESS : operation->step(operation, &done);
    if (!error && (!done || operation->finish)) {
      operation->due |= done;
      at = &operation->next;
      continue;
    }
    *at = operation->next;
    atomic_fetch_sub(&under_way.n, 1);
    close_operation(operation, error);
  }
}

void rgi_fault_operation_progress(void) {
  if (atomic_load_explicit(&under_way.n, memory_order_relaxed) == 0 ||
      pthread_mutex_trylock(&under_way.lock))
    return;
  step_all();
  pthread_mutex_unlock(&under_way.lock);
}

/* --- those with something left to do -------------------------------------------------------- */

/* The first one with something left to do, where the request's has, too. They finish in the order
 * in which they began, which all members share; the order in which they become due differs. */
static rgi_fault_operation *find_next(MPI_Request request) {
  rgi_fault_operation *first = NULL, *at = under_way.first;
  for (; at; at = at->next) {
    if (!first && at->finish)
      first = at;
    if (at->request == request)
      return at->finish ? first : NULL;
  }
  return NULL;
}

/* It and all that finish before it. */
int rgi_fault_operation_is_due(MPI_Request request) {
  int due = 1, found = 0;
  pthread_mutex_lock(&under_way.lock);
  for (rgi_fault_operation *at = under_way.first; at && !found; at = at->next) {
    due &= at->due || !at->finish;
    found = at->request == request && at->finish;
  }
  pthread_mutex_unlock(&under_way.lock);
  return found && due;
}

static rgi_fault_operation *take_next(MPI_Request request) {
  rgi_fault_operation *found = find_next(request), **at = &under_way.first;
  if (!found || !found->due)
    return NULL;
  while (*at != found)
    at = &(*at)->next;
  *at = found->next;
  atomic_fetch_sub(&under_way.n, 1);
  return found;
}

void rgi_fault_operation_finish(MPI_Request request) {
  for (;;) {
    pthread_mutex_lock(&under_way.lock);
    rgi_fault_operation *operation = take_next(request);
    pthread_mutex_unlock(&under_way.lock);
    if (!operation)
      return;
    close_operation(operation, operation->finish(operation));
  }
}

/* --- the beginning ---------------------------------------------------------------------------- */

int rgi_fault_operation_start(rgi_fault_operation *operation, MPI_Request *request) {
  const rgi_fault_request noted = {.state = operation->state,
                                   .kind = RGI_FAULT_OWN,
                                   .peer = MPI_PROC_NULL,
                                   .finishes = operation->finish != NULL};
  int code = rgi_fault_request_open(&operation->request);
  if (code) {
    operation->free(operation);
    return code;
  }
  *request = operation->request;
  rgi_fault_request_note(*request, &noted);
  rgi_fault_comm_use(operation->state);
  pthread_mutex_lock(&under_way.lock);
  rgi_fault_operation **last = &under_way.first;
  while (*last)
    last = &(*last)->next;
  *last = operation;
  atomic_fetch_add(&under_way.n, 1);
  step_all(); /* the last member to come may decide at once */
  pthread_mutex_unlock(&under_way.lock);
  return MPI_SUCCESS;
}
