/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches and runs: they are simplified, cut into pieces that the transport takes, and started
 * piece by piece. MPI's operations with a request on ARMCI's window serve for this: ARMCI's own
 * calls for patches count in ints, need strides that divide one another, and wait inside MPI.
 *
 * An operation that is given up, after a time limit or an error, cannot be cancelled in MPI. It is
 * kept in a list until the library stops. A node daemon's operation is dropped instead. */
#include <pthread.h>
#include <regroup/polite.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "engine/daemon_transport.h"
#include "engine/engine.h"
#include "engine/rma.h"
#include "engine/scalar.h"
#include "engine/transfer.h"
#include "progress/mpi_error.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

struct rgi_engine_op {
  struct rgi_engine_op *next; /* given up */
  rgi_transfer_piece *first;
  const char *call;
  int target;
};

/* Operations that no thread waits for any more, but that MPI may still be working on. */
static struct {
  pthread_mutex_t lock;
  rgi_engine_handle first;
} given_up = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- one piece -------------------------------------------------------------- */

static int issue_by_rma(const rgi_transfer *t, int64_t bytes, uint64_t reach,
                        rgi_transfer_piece *p) {
  uint64_t high = t->offset + reach;
  RGI_TRY(rgi_rma_before(t->target, t->kind, t->offset, high));
  RGI_TRY(rgi_rma_enter(t->target, &p->turn));
  int error = rgi_rma_issue(t, bytes, p);
  if (error)
    rgi_rma_left(t->target, p->turn);
  else
    rgi_rma_started(t->target, t->kind, t->offset, high);
  return error;
}

/* It touches `reach` bytes of the heap part from t->offset on. */
static int add_piece(rgi_engine_handle op, const rgi_transfer *t, int64_t bytes, uint64_t reach) {
  rgi_transfer_piece *p = calloc(1, sizeof *p);
  if (!p)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", rgi_transfer_calls[t->kind]);
  int error = rgi_daemon_transport_is_used() ? rgi_daemon_transport_start(t, bytes, &p->daemon_op)
                                             : issue_by_rma(t, bytes, reach, p);
  if (error) {
    free(p->copy);
    free(p);
    return error;
  }
  p->next = op->first;
  op->first = p;
  return RG_SUCCESS;
}

/* --- cutting ------------------------------------------------------------------ */

static int64_t bytes_of(const rgi_strided *p) {
  int64_t bytes = 1;
  for (int d = 0; d < p->dims; d++)
    bytes *= p->extent[d];
  return bytes;
}

/* Rows [from, from + n) of the outermost dimension. */
static rgi_transfer cut_rows(const rgi_transfer *t, int64_t from, int64_t n) {
  rgi_transfer part = *t;
  int flat = t->patch.dims == 1;
  part.origin += from * (flat ? 1 : t->patch.origin_stride[0]);
  part.offset += (uint64_t)(from * (flat ? 1 : t->patch.target_stride[0]));
  part.patch.extent[0] = n;
  rgi_strided_simplify(&part.patch, &part.patch);
  return part;
}

static int add_pieces(rgi_engine_handle op, const rgi_transfer *t) {
  int64_t bytes = bytes_of(&t->patch), n = t->patch.extent[0];
  if (bytes <= rgi_transfer_most)
    return add_piece(op, t, bytes, rgi_strided_reach(&t->patch, t->patch.target_stride));
  int64_t step = rgi_transfer_most / (bytes / n);
  if (t->patch.dims == 1)
    step -= step % (int64_t)sizeof(double[2]);
  for (int64_t i = 0, k; i < n; i += k) {
    k = step < 1 ? 1 : step < n - i ? step : n - i;
    rgi_transfer part = cut_rows(t, i, k);
    RGI_TRY(add_pieces(op, &part));
  }
  return RG_SUCCESS;
}

/* --- operations ----------------------------------------------------------------- */

/* The runs as they are, in one piece. */
static int add_runs(rgi_engine_handle op, rgi_transfer *t) {
  uint64_t reach = 0;
  int64_t bytes = 0;
  for (int i = 0; i < t->n; i++) {
    uint64_t end = (uint64_t)(t->runs[i].target + t->runs[i].bytes);
    reach = end > reach ? end : reach;
    bytes += t->runs[i].bytes;
  }
  return t->n ? add_piece(op, t, bytes, reach) : RG_SUCCESS;
}

static int add_all(rgi_engine_handle op, rgi_transfer *t, const rgi_strided *p) {
  if (t->runs)
    return add_runs(op, t);
  return rgi_strided_simplify(p, &t->patch) ? add_pieces(op, t) : RG_SUCCESS;
}

/* p: the patch, unless there are runs. */
static int start_transfer(rgi_transfer *t, const rgi_strided *p, rgi_engine_handle *handle) {
  rgi_engine_handle op = calloc(1, sizeof *op);
  if (!op)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", rgi_transfer_calls[t->kind]);
  op->call = rgi_transfer_calls[t->kind];
  op->target = t->target;
  int error = add_all(op, t, p);
  if (error) {
    rgi_engine_wait(&op);
    return error;
  }
  *handle = op;
  return RG_SUCCESS;
}

int rgi_engine_start_put(int target, uint64_t offset, const void *from, const rgi_strided *p,
                         rgi_engine_handle *handle) {
  rgi_transfer t = {
      .kind = RGI_TRANSFER_PUT, .target = target, .offset = offset, .type = RG_TYPE_OPAQUE};
  t.origin = (char *)(uintptr_t)from;
  return start_transfer(&t, p, handle);
}

int rgi_engine_start_get(int target, uint64_t offset, void *to, const rgi_strided *p,
                         rgi_engine_handle *handle) {
  rgi_transfer t = {
      .kind = RGI_TRANSFER_GET, .target = target, .offset = offset, .type = RG_TYPE_OPAQUE};
  t.origin = to;
  return start_transfer(&t, p, handle);
}

int rgi_engine_start_acc(int target, uint64_t offset, const void *from, const rgi_strided *p,
                         rg_array_type type, const void *alpha, rgi_engine_handle *handle) {
  rgi_transfer t = {.kind = RGI_TRANSFER_ACC, .target = target, .offset = offset, .type = type};
  t.origin = (char *)(uintptr_t)from;
  t.alpha = rgi_scalar_is_one(type, alpha) ? NULL : alpha;
  return start_transfer(&t, p, handle);
}

static void pop_piece(rgi_engine_handle op) {
  rgi_transfer_piece *p = op->first;
  op->first = p->next;
  if (p->daemon_op)
    rgi_daemon_transport_drop(p->daemon_op);
  else
    rgi_rma_left(op->target, p->turn);
  free(p->copy);
  free(p);
}

static int test_piece(rgi_engine_handle op, int *over) {
  if (op->first->daemon_op)
    return rgi_daemon_transport_test(op->first->daemon_op, op->call, over);
  return rgi_mpi_error(MPI_Test(&op->first->request, over, MPI_STATUS_IGNORE), op->call);
}

/* Looks at the pieces in turn. */
static int test_pieces(rgi_engine_handle op, int *done) {
  *done = 0;
  while (op->first) {
    int over = 0;
    RGI_TRY(test_piece(op, &over));
    if (!over)
      return RG_SUCCESS;
    pop_piece(op);
  }
  *done = 1;
  return RG_SUCCESS;
}

static void give_up(rgi_engine_handle op) {
  if (rgi_daemon_transport_is_used()) { /* the daemon completes them without this process */
    while (op->first)
      pop_piece(op);
    free(op);
    return;
  }
  pthread_mutex_lock(&given_up.lock);
  op->next = given_up.first;
  given_up.first = op;
  pthread_mutex_unlock(&given_up.lock);
}

int rgi_engine_test(rgi_engine_handle *handle, int *done) {
  rgi_engine_handle op = *handle;
  int over = 0, error = test_pieces(op, &over);
  if (error)
    give_up(op);
  else if (over)
    free(op);
  if (error || over)
    *handle = NULL;
  if (!error)
    *done = over;
  return error;
}

/* Tests of the operation between two looks at all other requests. */
#define LOOKS 8

/* Where waiting inside MPI is polite, MPI pauses by itself, and only after a test that has moved
 * no data: a long transfer needs its tests without a pause between them. */
static int wait_for(rgi_engine_handle op) {
  rgi_wait w;
  int done, polite = 0;
  rg_polite_active(&polite);
  rgi_wait_start(&w, op->call, op->target);
  if (rgi_daemon_transport_is_used())
    w.scope = (rgi_failure_scope){0}; /* a dead process's memory can be reached, too */
  for (unsigned i = 1;; i++) {
    RGI_TRY(test_pieces(op, &done));
    if (done)
      return RG_SUCCESS;
    if (rgi_daemon_transport_is_used()) {
      RGI_TRY(rgi_daemon_transport_pause(&w, op->target));
      continue;
    }
    if (i % LOOKS == 0)
      RGI_TRY(rgi_requests_progress_all());
    RGI_TRY(polite ? rgi_wait_check(&w) : rgi_wait_more(&w));
  }
}

int rgi_engine_wait(rgi_engine_handle *handle) {
  rgi_engine_handle op = *handle;
  *handle = NULL;
  int error = wait_for(op);
  if (error)
    give_up(op);
  else
    free(op);
  return error;
}

void rgi_engine_end_given_up(int mpi) {
  for (rgi_engine_handle op = given_up.first, next; op; op = next) {
    next = op->next;
    while (op->first) {
      if (mpi)
        MPI_Wait(&op->first->request, MPI_STATUS_IGNORE);
      pop_piece(op);
    }
    free(op);
  }
  given_up.first = NULL;
}

static int transfer_and_wait(rgi_transfer *t, const rgi_strided *p) {
  rgi_engine_handle h;
  t->may_block = rgi_options_value(RGI_OPT_TIMEOUT) == 0;
  RGI_TRY(start_transfer(t, p, &h));
  return rgi_engine_wait(&h);
}

int rgi_engine_put(int target, uint64_t offset, const void *from, const rgi_strided *p) {
  rgi_transfer t = {
      .kind = RGI_TRANSFER_PUT, .target = target, .offset = offset, .type = RG_TYPE_OPAQUE};
  t.origin = (char *)(uintptr_t)from;
  return transfer_and_wait(&t, p);
}

int rgi_engine_get(int target, uint64_t offset, void *to, const rgi_strided *p) {
  rgi_transfer t = {
      .kind = RGI_TRANSFER_GET, .target = target, .offset = offset, .type = RG_TYPE_OPAQUE};
  t.origin = to;
  return transfer_and_wait(&t, p);
}

int rgi_engine_acc(int target, uint64_t offset, const void *from, const rgi_strided *p,
                   rg_array_type type, const void *alpha) {
  rgi_engine_handle h;
  RGI_TRY(rgi_engine_start_acc(target, offset, from, p, type, alpha, &h));
  return rgi_engine_wait(&h);
}

static rgi_transfer transfer_of_runs(rgi_transfer_kind kind, int target, uint64_t offset,
                                     void *origin, int n, const rgi_strided_run runs[],
                                     rg_array_type type, const void *alpha) {
  int acc = kind == RGI_TRANSFER_ACC;
  return (rgi_transfer){.kind = kind,
                        .target = target,
                        .offset = offset,
                        .origin = origin,
                        .runs = runs,
                        .n = n,
                        .type = acc ? type : RG_TYPE_OPAQUE,
                        .alpha = !acc || rgi_scalar_is_one(type, alpha) ? NULL : alpha};
}

int rgi_engine_runs(rgi_transfer_kind kind, int target, uint64_t offset, void *origin, int n,
                    const rgi_strided_run runs[], rg_array_type type, const void *alpha) {
  rgi_transfer t = transfer_of_runs(kind, target, offset, origin, n, runs, type, alpha);
  return transfer_and_wait(&t, NULL);
}

int rgi_engine_start_runs(rgi_transfer_kind kind, int target, uint64_t offset, void *origin, int n,
                          const rgi_strided_run runs[], rg_array_type type, const void *alpha,
                          rgi_engine_handle *handle) {
  rgi_transfer t = transfer_of_runs(kind, target, offset, origin, n, runs, type, alpha);
  return start_transfer(&t, NULL, handle);
}
