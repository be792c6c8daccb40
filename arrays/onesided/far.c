/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a piece through the engine. */
#include <stdlib.h>

#include "onesided/move.h"

#include "base/error.h"

static int add_started(const char *call, rgi_started *s) {
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
static int next_handle(const rgi_move *m, rgi_engine_handle **handle) {
  RGI_TRY(add_started(m->call, m->started));
  *handle = &m->started->at[m->started->n];
  return RG_SUCCESS;
}

static int start(const rgi_move *m, int target, uint64_t offset, char *buf,
                 const rgi_far_patch *patch) {
  rgi_engine_handle *handle;
  RGI_TRY(next_handle(m, &handle));
  switch (m->way) {
  case RGI_PUT:
    RGI_TRY(rgi_engine_start_put(target, offset, buf, patch, handle));
    break;
  case RGI_GET:
    RGI_TRY(rgi_engine_start_get(target, offset, buf, patch, handle));
    break;
  default:
    RGI_TRY(rgi_engine_start_acc(target, offset, buf, patch, m->a->type, m->alpha, handle));
  }
  m->started->n++;
  return RG_SUCCESS;
}

static int operate(const rgi_move *m, int target, uint64_t offset, char *buf,
                   const rgi_far_patch *patch) {
  if (m->started)
    return start(m, target, offset, buf, patch);
  switch (m->way) {
  case RGI_PUT:
    return rgi_engine_put(target, offset, buf, patch);
  case RGI_GET:
    return rgi_engine_get(target, offset, buf, patch);
  default:
    return rgi_engine_acc(target, offset, buf, patch, m->a->type, m->alpha);
  }
}

/* That of a dimension of extent 1 may wrap around; it is not used. */
static int64_t in_bytes(int64_t stride, int64_t element) {
  return (int64_t)((uint64_t)stride * (uint64_t)element);
}

/* With a step in the last dimension its elements are runs of their own: a dimension
 * more. */
rgi_far_patch rgi_move_far_patch(const rgi_move *m, const rgi_part *p) {
  int dims = m->a->d.dims;
  int64_t element = (int64_t)m->a->element;
  rgi_far_patch patch = {.dims = dims + (p->stride[dims - 1] != 1)};
  for (int d = 0; d < dims; d++) {
    patch.extent[d] = p->extent[d];
    patch.near_stride[d] = in_bytes(p->buf_stride[d], element);
    patch.far_stride[d] = in_bytes(p->stride[d], element);
  }
  patch.extent[patch.dims - 1] = patch.dims > dims ? element : p->extent[dims - 1] * element;
  return patch;
}

int rgi_move_far(const rgi_move *m, const rgi_part *p) {
  uint64_t offset = m->a->shares[p->rank] + (uint64_t)p->offset * m->a->element;
  rgi_far_patch patch = rgi_move_far_patch(m, p);
  return operate(m, m->a->world[p->rank], offset, p->buf, &patch);
}

int rgi_move_far_runs(const rgi_move *m, int rank, uint64_t offset, char *buf, int n,
                      const rgi_far_run runs[]) {
  static const rgi_remote_kind kinds[] = {
      [RGI_PUT] = RGI_REMOTE_PUT, [RGI_GET] = RGI_REMOTE_GET, [RGI_ACC] = RGI_REMOTE_ACC};
  int target = m->a->world[rank];
  rgi_engine_handle *handle;
  if (!m->started)
    return rgi_engine_runs(kinds[m->way], target, offset, buf, n, runs, m->a->type, m->alpha);
  RGI_TRY(next_handle(m, &handle));
  RGI_TRY(rgi_engine_start_runs(kinds[m->way], target, offset, buf, n, runs, m->a->type, m->alpha,
                                handle));
  m->started->n++;
  return RG_SUCCESS;
}
