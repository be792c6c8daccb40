/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gets, puts and accumulates, each as one operation of MPI on the window. MPI's operations with a
 * request serve for this: ARMCI's own calls for patches count in ints, need strides that divide one
 * another, and wait inside MPI. What is not contiguous on one side has an MPI datatype there, of
 * the largest units that divide all lengths and distances: MPI copies these faster than bytes.
 *
 * An operation that is dropped before it is done, after a time limit or an error, cannot be
 * cancelled in MPI. It is kept in a list until the library stops. */
#include <pthread.h>
#include <regroup/polite.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/rma.h"
#include "engine/scalar.h"
#include "progress/mpi_error.h"
#include "progress/request.h"

typedef struct {
  int count;
  MPI_Datatype type;
} mpi_side;

typedef struct {
  rgi_transport_op op; /* first */
  MPI_Request request;
  MPI_Datatype element; /* of which the types of both sides consist */
  int size;             /* its bytes */
  mpi_side origin, target;
  void *copy; /* what is sent instead of the caller's buffer; or NULL */
  rgi_rma_room room;
  int done;
} rma_op;

/* --- types ---------------------------------------------------------------------------- */

static int64_t common_bits_of_runs(const rgi_transfer *transfer) {
  int64_t all = 0;
  for (int i = 0; i < transfer->n; i++)
    all |= transfer->runs[i].origin | transfer->runs[i].target | transfer->runs[i].bytes;
  return all;
}

/* Accumulates have the type of the array, others the largest unit that divides all lengths and
 * distances, or'ed together. */
static void choose_element(const rgi_transfer *transfer, rma_op *op) {
  const rgi_strided *p = &transfer->patch;
  size_t size = sizeof(int64_t);
  if (transfer->kind == RGI_ACCESS_KIND_ACC) {
    op->element = rgi_scalar_mpi_type(transfer->type, &size);
  } else {
    int64_t all = transfer->runs ? common_bits_of_runs(transfer) : p->extent[0];
    for (int d = 1; !transfer->runs && d < p->dims; d++)
      all |= p->origin_stride[d] | p->target_stride[d];
    size = all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
    op->element = size == 8 ? MPI_INT64_T : size == 4 ? MPI_INT32_T : MPI_BYTE;
  }
  op->size = (int)size;
  op->origin = op->target = (mpi_side){(int)(transfer->bytes / op->size), op->element};
}

static int open_runs(const rgi_transfer *transfer, rma_op *op, mpi_side *side) {
  size_t n = (size_t)transfer->n;
  MPI_Aint *at = malloc(n * (sizeof *at + sizeof(int)));
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", op->op.call, transfer->n);
  int *length = (int *)(void *)(at + n);
  for (size_t i = 0; i < n; i++) {
    at[i] = side == &op->target ? transfer->runs[i].target : transfer->runs[i].origin;
    length[i] = (int)(transfer->runs[i].bytes / op->size);
  }
  side->count = 1;
  int code = MPI_Type_create_hindexed(transfer->n, length, at, op->element, &side->type);
  free(at);
  RGI_TRY_MPI(code);
  RGI_TRY_MPI(MPI_Type_commit(&side->type));
  return RG_SUCCESS;
}

/* One side that is not contiguous; to be closed also after an error. */
static int open_side(const rgi_transfer *transfer, rma_op *op, mpi_side *side) {
  const rgi_strided *p = &transfer->patch;
  const int64_t *stride = side == &op->target ? p->target_stride : p->origin_stride;
  if (transfer->runs)
    return open_runs(transfer, op, side);
  *side = (mpi_side){(int)(p->extent[0] / op->size), op->element};
  for (int d = 1; d < p->dims; d++) {
    MPI_Datatype inner = side->type;
    int code =
        MPI_Type_create_hvector((int)p->extent[d], side->count, stride[d], inner, &side->type);
    if (inner != op->element)
      MPI_Type_free(&inner);
    if (code != MPI_SUCCESS) {
      side->type = op->element;
      return rgi_mpi_error(code, "MPI_Type_create_hvector");
    }
    side->count = 1;
  }
  RGI_TRY_MPI(MPI_Type_commit(&side->type));
  return RG_SUCCESS;
}

static void close_sides(rma_op *op) {
  if (op->origin.type != op->element)
    MPI_Type_free(&op->origin.type);
  if (op->target.type != op->element)
    MPI_Type_free(&op->target.type);
}

/* --- one operation ------------------------------------------------------------------------ */

/* MPICH 4.0 completes an MPI_Rget or MPI_Rput that is not contiguous on both sides too early:
 * before the data have arrived, or have left the buffer. An accumulate is complete when its request
 * is, so that one replaces them there. MPI_Get or MPI_Put with a flush is right, too, and faster.
 * But a flush cannot be ended by a time limit. */
static void issue(const rgi_transfer *transfer, rma_op *op, char *origin) {
  const mpi_side side = op->origin, f = op->target;
  int get = transfer->kind == RGI_ACCESS_KIND_GET, put = transfer->kind == RGI_ACCESS_KIND_PUT;
  int plain = side.type == op->element && f.type == op->element;
  int flush = !plain && (get || put) && transfer->may_block && rgi_rma.may_block;
  int to = transfer->target;
  MPI_Aint at = (MPI_Aint)transfer->offset;
  MPI_Win w = rgi_rma.window;
  if (flush && get)
    MPI_Get(origin, side.count, side.type, to, at, f.count, f.type, w);
  else if (flush)
    MPI_Put(origin, side.count, side.type, to, at, f.count, f.type, w);
  else if (plain && get)
    MPI_Rget(origin, side.count, side.type, to, at, f.count, f.type, w, &op->request);
  else if (get)
    MPI_Rget_accumulate(NULL, 0, MPI_BYTE, origin, side.count, side.type, to, at, f.count, f.type,
                        MPI_NO_OP, w, &op->request);
  else if (plain && put)
    MPI_Rput(origin, side.count, side.type, to, at, f.count, f.type, w, &op->request);
  else
    MPI_Raccumulate(origin, side.count, side.type, to, at, f.count, f.type,
                    put ? MPI_REPLACE : MPI_SUM, w, &op->request);
  if (flush)
    MPI_Win_flush(to, w);
}

static int scale_copy(const rgi_transfer *transfer, rma_op *op) {
  op->copy = malloc((size_t)transfer->bytes);
  if (!op->copy)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a copy of %lld bytes", op->op.call,
                     (long long)transfer->bytes);
  rgi_transfer_pack_scaled(transfer, op->copy);
  return RG_SUCCESS;
}

int rgi_rma_begin(const rgi_transfer *transfer, rgi_transport_op **op) {
  uint64_t high = transfer->offset + transfer->reach;
  int error = RG_SUCCESS;
  rma_op *o = malloc(sizeof *o);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", rgi_transfer_calls[transfer->kind]);
  *o = (rma_op){.op = {NULL, rgi_transfer_calls[transfer->kind], transfer->target},
                .request = MPI_REQUEST_NULL,
                .room = {1, 0, 0}};
  choose_element(transfer, o);
  if (transfer->alpha)
    error = scale_copy(transfer, o);
  else if (!transfer->flat || transfer->runs)
    error = open_side(transfer, o, &o->origin);
  if (!error && (transfer->runs || transfer->patch.dims > 1))
    error = open_side(transfer, o, &o->target);
  if (!error)
    error = rgi_rma_before(transfer->target, transfer->kind, transfer->offset, high, &o->room);
  if (!error) {
    issue(transfer, o, o->copy ? o->copy : transfer->origin);
    error = rgi_armci_window_error(o->op.call);
    int failed =
        rgi_rma_started(transfer->target, transfer->kind, transfer->offset, high, &o->room);
    error = error ? error : failed;
    if (error)
      rgi_rma_left(transfer->target, &o->room);
  }
  close_sides(o);
  if (error) {
    free(o->copy);
    free(o);
    return error;
  }
  *op = &o->op;
  return RG_SUCCESS;
}

/* --- afterwards ------------------------------------------------------------------------------ */

int rgi_rma_test(rgi_transport_op *op, int *done) {
  rma_op *o = (rma_op *)op;
  RGI_TRY(rgi_mpi_error(MPI_Test(&o->request, &o->done, MPI_STATUS_IGNORE), op->call));
  *done = o->done;
  return RG_SUCCESS;
}

/* Tests of the operation between two looks at all other requests. */
#define LOOKS 8

/* Where waiting inside MPI is polite, MPI pauses by itself, and only after a test that has moved
 * no data: a long transfer needs its tests without a pause between them. */
int rgi_rma_wait(rgi_transport_op *op, rgi_wait *wait) {
  int done, polite = 0;
  rg_polite_active(&polite);
  for (unsigned i = 1;; i++) {
    RGI_TRY(rgi_rma_test(op, &done));
    if (done)
      return RG_SUCCESS;
    if (i % LOOKS == 0)
      RGI_TRY(rgi_requests_progress_all());
    RGI_TRY(polite ? rgi_wait_check(wait) : rgi_wait_more(wait));
  }
}

/* Operations that no thread waits for any more, but that MPI may still be working on. */
static struct {
  pthread_mutex_t lock;
  rgi_transport_op *first;
} dropped = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_op(rma_op *op) {
  rgi_rma_left(op->op.target, &op->room);
  free(op->copy);
  free(op);
}

void rgi_rma_drop(rgi_transport_op *op) {
  rma_op *o = (rma_op *)op;
  if (o->done) {
    free_op(o);
    return;
  }
  pthread_mutex_lock(&dropped.lock);
  op->next = dropped.first;
  dropped.first = op;
  pthread_mutex_unlock(&dropped.lock);
}

void rgi_rma_end_dropped(int mpi) {
  for (rgi_transport_op *op = dropped.first, *next; op; op = next) {
    rma_op *o = (rma_op *)op;
    next = op->next;
    if (mpi)
      MPI_Wait(&o->request, MPI_STATUS_IGNORE);
    free_op(o);
  }
  dropped.first = NULL;
}
