/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One operation of MPI's on the window, with a type of ours for each side. */
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
static int64_t common_bits(const rgi_transfer *j) {
  const rgi_strided *p = &j->patch;
  int64_t all = 0;
  for (int i = 0; j->runs && i < j->n; i++)
    all |= j->runs[i].origin | j->runs[i].target | j->runs[i].bytes;
  if (j->runs)
    return all;
  all = p->extent[p->dims - 1];
  for (int d = 0; d < p->dims - 1; d++)
    all |= p->origin_stride[d] | p->target_stride[d];
  return all;
}

/* The largest units of which both sides consist: MPI copies them faster than bytes. */
static rg_type unit_type(const rgi_transfer *j) {
  int64_t all = common_bits(j);
  return all % 8 == 0 ? RG_INT64 : all % 4 == 0 ? RG_INT32 : RG_OPAQUE;
}

static int runs_type(const rgi_transfer *j, int target, size_t size, mpi_side *s) {
  size_t n = (size_t)j->n;
  MPI_Aint *at = malloc(n * (sizeof *at + sizeof(int)));
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", rgi_transfer_calls[j->kind], j->n);
  int *length = (int *)(void *)(at + n);
  for (size_t i = 0; i < n; i++) {
    at[i] = target ? j->runs[i].target : j->runs[i].origin;
    length[i] = (int)(j->runs[i].bytes / (int64_t)size);
  }
  s->count = 1;
  int code = MPI_Type_create_hindexed(j->n, length, at, s->element, &s->type);
  free(at);
  RGI_TRY_MPI(code);
  RGI_TRY_MPI(MPI_Type_commit(&s->type));
  return RG_SUCCESS;
}

static int side_open(mpi_side *s, const rgi_transfer *j, int target, rg_type type) {
  size_t size;
  s->element = rgi_scalar_mpi_type(type, &size);
  if (j->runs)
    return runs_type(j, target, size, s);
  return rgi_strided_mpi_type(&j->patch, target ? j->patch.target_stride : j->patch.origin_stride,
                              s->element, size, &s->count, &s->type);
}

/* The origin side, packed. */
static void side_flat(mpi_side *s, int64_t bytes, rg_type type) {
  size_t size;
  s->type = s->element = rgi_scalar_mpi_type(type, &size);
  s->count = (int)(bytes / (int64_t)size);
}

static void side_close(mpi_side *s) {
  if (s->type != s->element)
    MPI_Type_free(&s->type);
}

/* MPICH 4.0 completes an MPI_Rget or MPI_Rput that is not contiguous on both sides too
 * early: before the data are there, or have left the buffer. Accumulates are complete
 * when they say so. */
static int issue_request(const rgi_transfer *j, void *origin, const mpi_side *n, const mpi_side *f,
                         int plain, MPI_Request *request) {
  MPI_Aint to = (MPI_Aint)j->offset;
  MPI_Win w = rgi_rma.window;
  int get = j->kind == RGI_TRANSFER_GET, put = j->kind == RGI_TRANSFER_PUT;
  if (plain && get)
    return MPI_Rget(origin, n->count, n->type, j->target, to, f->count, f->type, w, request);
  if (get)
    return MPI_Rget_accumulate(NULL, 0, MPI_BYTE, origin, n->count, n->type, j->target, to,
                               f->count, f->type, MPI_NO_OP, w, request);
  if (plain && put)
    return MPI_Rput(origin, n->count, n->type, j->target, to, f->count, f->type, w, request);
  return MPI_Raccumulate(origin, n->count, n->type, j->target, to, f->count, f->type,
                         put ? MPI_REPLACE : MPI_SUM, w, request);
}

/* A flush is right too, and faster than those accumulates; but it cannot be left. */
static int issue_operation(const rgi_transfer *j, void *origin, const mpi_side *n,
                           const mpi_side *f, MPI_Request *request) {
  MPI_Aint to = (MPI_Aint)j->offset;
  int plain = n->type == n->element && f->type == f->element, code;
  if (plain || !j->may_block || j->kind == RGI_TRANSFER_ACC)
    return issue_request(j, origin, n, f, plain, request);
  if (j->kind == RGI_TRANSFER_GET)
    code = MPI_Get(origin, n->count, n->type, j->target, to, f->count, f->type, rgi_rma.window);
  else
    code = MPI_Put(origin, n->count, n->type, j->target, to, f->count, f->type, rgi_rma.window);
  *request = MPI_REQUEST_NULL;
  return code == MPI_SUCCESS ? MPI_Win_flush(j->target, rgi_rma.window) : code;
}

static int issue_types(const rgi_transfer *j, int64_t bytes, rgi_transfer_piece *p) {
  mpi_side n, f;
  rg_type type = j->kind == RGI_TRANSFER_ACC ? j->type : unit_type(j);
  if (p->copy)
    side_flat(&n, bytes, type);
  else
    RGI_TRY(side_open(&n, j, 0, type));
  int error = side_open(&f, j, 1, type);
  if (!error) {
    issue_operation(j, p->copy ? p->copy : j->origin, &n, &f, &p->request);
    error = rgi_armci_window_error(rgi_transfer_calls[j->kind]);
    side_close(&f);
  }
  side_close(&n);
  return error;
}

int rgi_rma_issue(const rgi_transfer *j, int64_t bytes, rgi_transfer_piece *p) {
  if (j->alpha) {
    p->copy = malloc((size_t)bytes);
    if (!p->copy)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for a copy of %lld bytes",
                       rgi_transfer_calls[j->kind], (long long)bytes);
    rgi_transfer_pack_scaled(j, p->copy);
  }
  return issue_types(j, bytes, p);
}
