/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One operation of MPI's on the window, with a type of ours for each side. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/issue.h"
#include "engine/window.h"
#include "progress/mpi_error.h"

typedef rgi_remote_job job;
typedef rgi_remote_piece piece;

const char *const rgi_remote_calls[] = {"rg_array_get", "rg_array_put", "rg_array_acc"};

typedef struct {
  int count;
  MPI_Datatype type, element;
} side;

/* All lengths and distances or'ed together. */
static int64_t grain(const job *j) {
  const rgi_far_patch *p = &j->patch;
  int64_t all = 0;
  for (int i = 0; j->runs && i < j->n; i++)
    all |= j->runs[i].near | j->runs[i].far | j->runs[i].bytes;
  if (j->runs)
    return all;
  all = p->extent[p->dims - 1];
  for (int d = 0; d < p->dims - 1; d++)
    all |= p->near_stride[d] | p->far_stride[d];
  return all;
}

/* The largest units of which both sides consist: MPI copies them faster than bytes. */
static rg_type units(const job *j) {
  int64_t all = grain(j);
  return all % 8 == 0 ? RG_INT64 : all % 4 == 0 ? RG_INT32 : RG_OPAQUE;
}

static int runs_type(const job *j, int far, size_t size, side *s) {
  size_t n = (size_t)j->n;
  MPI_Aint *at = malloc(n * (sizeof *at + sizeof(int)));
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", rgi_remote_calls[j->kind], j->n);
  int *length = (int *)(void *)(at + n);
  for (size_t i = 0; i < n; i++) {
    at[i] = far ? j->runs[i].far : j->runs[i].near;
    length[i] = (int)(j->runs[i].bytes / (int64_t)size);
  }
  s->count = 1;
  int code = MPI_Type_create_hindexed(j->n, length, at, s->element, &s->type);
  free(at);
  RGI_TRY_MPI(code);
  RGI_TRY_MPI(MPI_Type_commit(&s->type));
  return RG_SUCCESS;
}

static int side_open(side *s, const job *j, int far, rg_type type) {
  size_t size;
  s->element = rgi_remote_mpi_type(type, &size);
  if (j->runs)
    return runs_type(j, far, size, s);
  return rgi_remote_type(&j->patch, far ? j->patch.far_stride : j->patch.near_stride, s->element,
                         size, &s->count, &s->type);
}

/* The near side, packed. */
static void side_flat(side *s, int64_t bytes, rg_type type) {
  size_t size;
  s->type = s->element = rgi_remote_mpi_type(type, &size);
  s->count = (int)(bytes / (int64_t)size);
}

static void side_close(side *s) {
  if (s->type != s->element)
    MPI_Type_free(&s->type);
}

/* MPICH 4.0 completes an MPI_Rget or MPI_Rput that is not contiguous on both sides too
 * early: before the data are there, or have left the buffer. Accumulates are complete
 * when they say so. */
static int issue_request(const job *j, void *near, const side *n, const side *f, int plain,
                         MPI_Request *request) {
  MPI_Aint to = (MPI_Aint)j->offset;
  MPI_Win w = rgi_remote.window;
  int get = j->kind == RGI_REMOTE_GET, put = j->kind == RGI_REMOTE_PUT;
  if (plain && get)
    return MPI_Rget(near, n->count, n->type, j->target, to, f->count, f->type, w, request);
  if (get)
    return MPI_Rget_accumulate(NULL, 0, MPI_BYTE, near, n->count, n->type, j->target, to, f->count,
                               f->type, MPI_NO_OP, w, request);
  if (plain && put)
    return MPI_Rput(near, n->count, n->type, j->target, to, f->count, f->type, w, request);
  return MPI_Raccumulate(near, n->count, n->type, j->target, to, f->count, f->type,
                         put ? MPI_REPLACE : MPI_SUM, w, request);
}

/* A flush is right too, and faster than those accumulates; but it cannot be left. */
static int issue(const job *j, void *near, const side *n, const side *f, MPI_Request *request) {
  MPI_Aint to = (MPI_Aint)j->offset;
  int plain = n->type == n->element && f->type == f->element, code;
  if (plain || !j->may_block || j->kind == RGI_REMOTE_ACC)
    return issue_request(j, near, n, f, plain, request);
  if (j->kind == RGI_REMOTE_GET)
    code = MPI_Get(near, n->count, n->type, j->target, to, f->count, f->type, rgi_remote.window);
  else
    code = MPI_Put(near, n->count, n->type, j->target, to, f->count, f->type, rgi_remote.window);
  *request = MPI_REQUEST_NULL;
  return code == MPI_SUCCESS ? MPI_Win_flush(j->target, rgi_remote.window) : code;
}

static int issue_types(const job *j, int64_t bytes, piece *p) {
  side n, f;
  rg_type type = j->kind == RGI_REMOTE_ACC ? j->type : units(j);
  if (p->copy)
    side_flat(&n, bytes, type);
  else
    RGI_TRY(side_open(&n, j, 0, type));
  int error = side_open(&f, j, 1, type);
  if (!error) {
    issue(j, p->copy ? p->copy : j->near, &n, &f, &p->request);
    error = rgi_window_error(rgi_remote_calls[j->kind]);
    side_close(&f);
  }
  side_close(&n);
  return error;
}

void rgi_remote_scaled(const job *j, char *to) {
  size_t size;
  rgi_remote_mpi_type(j->type, &size);
  if (!j->runs)
    rgi_remote_scale(&j->patch, j->near, j->type, j->alpha, to);
  for (int i = 0; j->runs && i < j->n; i++) {
    rgi_remote_multiply(j->type, j->alpha, (size_t)j->runs[i].bytes / size,
                        j->near + j->runs[i].near, to);
    to += j->runs[i].bytes;
  }
}

int rgi_remote_issue(const job *j, int64_t bytes, piece *p) {
  if (j->alpha) {
    p->copy = malloc((size_t)bytes);
    if (!p->copy)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for a copy of %lld bytes",
                       rgi_remote_calls[j->kind], (long long)bytes);
    rgi_remote_scaled(j, p->copy);
  }
  return issue_types(j, bytes, p);
}
