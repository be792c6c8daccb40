/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a piece through the engine, and waiting for it unless the access collects what it has
 * started. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/engine.h"
#include "onesided/access_piece.h"

static int grow_started(const char *call, rgi_access_started *s) {
  if (s->n < s->room)
    return RG_SUCCESS;
  int room = s->room ? 2 * s->room : 4;
  rgi_engine_handle *at = realloc(s->at, (size_t)room * sizeof *at);
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a request", call);
  s->at = at;
  s->room = room;
  return RG_SUCCESS;
}

/* Where the next operation's handle goes. */
static int next_handle(const rgi_access *m, rgi_engine_handle **handle) {
  RGI_TRY(grow_started(m->call, m->started));
  *handle = &m->started->at[m->started->n];
  return RG_SUCCESS;
}

static int start_operation(const rgi_access *m, int target, uint64_t offset, char *buf,
                           const rgi_strided *patch) {
  rgi_engine_handle *handle;
  RGI_TRY(next_handle(m, &handle));
  switch (m->kind) {
  case RGI_TRANSFER_PUT:
    RGI_TRY(rgi_engine_start_put(target, offset, buf, patch, handle));
    break;
  case RGI_TRANSFER_GET:
    RGI_TRY(rgi_engine_start_get(target, offset, buf, patch, handle));
    break;
  default:
    RGI_TRY(rgi_engine_start_acc(target, offset, buf, patch, m->a->type, m->alpha, handle));
  }
  m->started->n++;
  return RG_SUCCESS;
}

static int run_operation(const rgi_access *m, int target, uint64_t offset, char *buf,
                         const rgi_strided *patch) {
  if (m->started)
    return start_operation(m, target, offset, buf, patch);
  switch (m->kind) {
  case RGI_TRANSFER_PUT:
    return rgi_engine_put(target, offset, buf, patch);
  case RGI_TRANSFER_GET:
    return rgi_engine_get(target, offset, buf, patch);
  default:
    return rgi_engine_acc(target, offset, buf, patch, m->a->type, m->alpha);
  }
}

/* The stride of a dimension of extent 1 may overflow; it is not used. */
static int64_t in_bytes(int64_t stride, int64_t element) {
  return (int64_t)((uint64_t)stride * (uint64_t)element);
}

/* With a step in the last dimension each element is a run of its own, which takes one more
 * dimension. */
rgi_strided rgi_access_strided(const rgi_access *m, const rgi_access_piece *p) {
  int dims = m->a->d.dims;
  int64_t element = (int64_t)m->a->element;
  rgi_strided patch = {.dims = dims + (p->stride[dims - 1] != 1)};
  for (int d = 0; d < dims; d++) {
    patch.extent[d] = p->extent[d];
    patch.origin_stride[d] = in_bytes(p->buf_stride[d], element);
    patch.target_stride[d] = in_bytes(p->stride[d], element);
  }
  patch.extent[patch.dims - 1] = patch.dims > dims ? element : p->extent[dims - 1] * element;
  return patch;
}

int rgi_access_other_node(const rgi_access *m, const rgi_access_piece *p) {
  uint64_t offset = m->a->heap_offsets[p->rank] + (uint64_t)p->offset * m->a->element;
  rgi_strided patch = rgi_access_strided(m, p);
  return run_operation(m, m->a->world[p->rank], offset, p->buf, &patch);
}

int rgi_access_runs(const rgi_access *m, int rank, uint64_t offset, char *buf, int n,
                    const rgi_strided_run runs[]) {
  int target = m->a->world[rank];
  rgi_engine_handle *handle;
  if (!m->started)
    return rgi_engine_runs(m->kind, target, offset, buf, n, runs, m->a->type, m->alpha);
  RGI_TRY(next_handle(m, &handle));
  RGI_TRY(
      rgi_engine_start_runs(m->kind, target, offset, buf, n, runs, m->a->type, m->alpha, handle));
  m->started->n++;
  return RG_SUCCESS;
}
