/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A transfer as one operation of MPI on the window, with an MPI datatype for each side. Both
 * types consist of the largest units that divide all lengths and distances: MPI copies these
 * faster than bytes. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/rma.h"
#include "engine/scalar.h"
#include "progress/mpi_error.h"

typedef struct {
  int count;
  MPI_Datatype type, element;
} mpi_side;

/* All lengths and distances or'ed together. */
static int64_t common_bits(const rgi_transfer *t) {
  const rgi_strided *p = &t->patch;
  int64_t all = 0;
  for (int i = 0; t->runs && i < t->n; i++)
    all |= t->runs[i].origin | t->runs[i].target | t->runs[i].bytes;
  if (t->runs)
    return all;
  all = p->extent[p->dims - 1];
  for (int d = 0; d < p->dims - 1; d++)
    all |= p->origin_stride[d] | p->target_stride[d];
  return all;
}

/* The largest unit of which both sides consist. */
static rg_array_type unit_type(const rgi_transfer *t) {
  int64_t all = common_bits(t);
  return all % 8 == 0 ? RG_TYPE_INT64 : all % 4 == 0 ? RG_TYPE_INT32 : RG_TYPE_OPAQUE;
}

static int runs_type(const rgi_transfer *t, int target, size_t size, mpi_side *s) {
  size_t n = (size_t)t->n;
  MPI_Aint *at = malloc(n * (sizeof *at + sizeof(int)));
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", rgi_transfer_calls[t->kind], t->n);
  int *length = (int *)(void *)(at + n);
  for (size_t i = 0; i < n; i++) {
    at[i] = target ? t->runs[i].target : t->runs[i].origin;
    length[i] = (int)(t->runs[i].bytes / (int64_t)size);
  }
  s->count = 1;
  int code = MPI_Type_create_hindexed(t->n, length, at, s->element, &s->type);
  free(at);
  RGI_TRY_MPI(code);
  RGI_TRY_MPI(MPI_Type_commit(&s->type));
  return RG_SUCCESS;
}

static int side_open(mpi_side *s, const rgi_transfer *t, int target, rg_array_type type) {
  size_t size;
  s->element = rgi_scalar_mpi_type(type, &size);
  if (t->runs)
    return runs_type(t, target, size, s);
  return rgi_strided_mpi_type(&t->patch, target ? t->patch.target_stride : t->patch.origin_stride,
                              s->element, size, &s->count, &s->type);
}

/* The origin side, packed. */
static void side_flat(mpi_side *s, int64_t bytes, rg_array_type type) {
  size_t size;
  s->type = s->element = rgi_scalar_mpi_type(type, &size);
  s->count = (int)(bytes / (int64_t)size);
}

static void side_close(mpi_side *s) {
  if (s->type != s->element)
    MPI_Type_free(&s->type);
}

/* MPICH 4.0 completes an MPI_Rget or MPI_Rput that is not contiguous on both sides too
 * early: before the data have arrived, or have left the buffer. An accumulate is complete
 * when its request is, so that one replaces them there. */
static int issue_request(const rgi_transfer *t, void *origin, const mpi_side *n, const mpi_side *f,
                         int plain, MPI_Request *request) {
  MPI_Aint to = (MPI_Aint)t->offset;
  MPI_Win w = rgi_rma.window;
  int get = t->kind == RGI_TRANSFER_GET, put = t->kind == RGI_TRANSFER_PUT;
  if (plain && get)
    return MPI_Rget(origin, n->count, n->type, t->target, to, f->count, f->type, w, request);
  if (get)
    return MPI_Rget_accumulate(NULL, 0, MPI_BYTE, origin, n->count, n->type, t->target, to,
                               f->count, f->type, MPI_NO_OP, w, request);
  if (plain && put)
    return MPI_Rput(origin, n->count, n->type, t->target, to, f->count, f->type, w, request);
  return MPI_Raccumulate(origin, n->count, n->type, t->target, to, f->count, f->type,
                         put ? MPI_REPLACE : MPI_SUM, w, request);
}

/* MPI_Get or MPI_Put with a flush is right, too, and faster than those accumulates. But a flush
 * cannot be ended by a time limit. */
static int issue_operation(const rgi_transfer *t, void *origin, const mpi_side *n,
                           const mpi_side *f, MPI_Request *request) {
  MPI_Aint to = (MPI_Aint)t->offset;
  int plain = n->type == n->element && f->type == f->element, code;
  if (plain || !t->may_block || t->kind == RGI_TRANSFER_ACC)
    return issue_request(t, origin, n, f, plain, request);
  if (t->kind == RGI_TRANSFER_GET)
    code = MPI_Get(origin, n->count, n->type, t->target, to, f->count, f->type, rgi_rma.window);
  else
    code = MPI_Put(origin, n->count, n->type, t->target, to, f->count, f->type, rgi_rma.window);
  *request = MPI_REQUEST_NULL;
  return code == MPI_SUCCESS ? MPI_Win_flush(t->target, rgi_rma.window) : code;
}

static int issue_types(const rgi_transfer *t, int64_t bytes, rgi_transfer_piece *p) {
  mpi_side n, f;
  rg_array_type type = t->kind == RGI_TRANSFER_ACC ? t->type : unit_type(t);
  if (p->copy)
    side_flat(&n, bytes, type);
  else
    RGI_TRY(side_open(&n, t, 0, type));
  int error = side_open(&f, t, 1, type);
  if (!error) {
    issue_operation(t, p->copy ? p->copy : t->origin, &n, &f, &p->request);
    error = rgi_armci_window_error(rgi_transfer_calls[t->kind]);
    side_close(&f);
  }
  side_close(&n);
  return error;
}

int rgi_rma_issue(const rgi_transfer *t, int64_t bytes, rgi_transfer_piece *p) {
  if (t->alpha) {
    p->copy = malloc((size_t)bytes);
    if (!p->copy)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for a copy of %lld bytes",
                       rgi_transfer_calls[t->kind], (long long)bytes);
    rgi_transfer_pack_scaled(t, p->copy);
  }
  return issue_types(t, bytes, p);
}
