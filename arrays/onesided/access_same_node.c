/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a piece by loads and stores. Puts and gets need no lock. Accumulates of integers are
 * processor atomics; others hold the owner's lock, which the processes of the node share. */
#include "access/patch.h"
#include "base/error.h"
#include "onesided/access_piece.h"

int rgi_access_accumulate(const char *call, rg_array a, int rank, int dims, const int64_t extent[],
                          void *to, const int64_t to_ld[], const void *from,
                          const int64_t from_ld[], const void *alpha) {
  if (a->type == RG_TYPE_INT32 || a->type == RG_TYPE_INT64) {
    rgi_patch_accumulate_atomic(a->type, dims, extent, to, to_ld, from, from_ld, alpha);
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_lock_acquire(&a->locks[rank], call));
  rgi_patch_accumulate(a->type, dims, extent, to, to_ld, from, from_ld, alpha);
  rgi_lock_release(&a->locks[rank]);
  return RG_SUCCESS;
}

/* The extents of a memory that has these strides: the copying functions take extents. */
static void extents_of(int dims, const int64_t stride[], int64_t ld[]) {
  for (int d = 0; d < dims - 1; d++)
    ld[d] = stride[d] / stride[d + 1];
}

static int move_block(const rgi_access *m, int rank, int dims, const int64_t extent[], char *memory,
                      const int64_t ld[], char *buf, const int64_t buf_ld[]) {
  switch (m->kind) {
  case RGI_TRANSFER_PUT:
    rgi_patch_copy(dims, extent, m->a->element, memory, ld, buf, buf_ld);
    return RG_SUCCESS;
  case RGI_TRANSFER_GET:
    rgi_patch_copy(dims, extent, m->a->element, buf, buf_ld, memory, ld);
    return RG_SUCCESS;
  default:
    return rgi_access_accumulate(m->call, m->a, rank, dims, extent, memory, ld, buf, buf_ld,
                                 m->alpha);
  }
}

/* With steps: row by row, the elements of a row as the column of a patch of two dimensions. */
static int move_rows(const rgi_access *m, const rgi_access_piece *p, char *memory) {
  int last = m->a->d.dims - 1;
  int64_t at[RG_ARRAY_MAX_DIMS] = {0}, column[2] = {p->extent[last], 1},
          element = (int64_t)m->a->element;
  for (int d = 0; d >= 0;) {
    int64_t here = 0, there = 0;
    for (d = 0; d < last; d++) {
      here += at[d] * p->stride[d];
      there += at[d] * p->buf_stride[d];
    }
    RGI_TRY(move_block(m, p->rank, 2, column, memory + here * element, &p->stride[last],
                       p->buf + there * element, &p->buf_stride[last]));
    for (d = last - 1; d >= 0 && ++at[d] == p->extent[d]; d--)
      at[d] = 0;
  }
  return RG_SUCCESS;
}

/* Several nodes: completes what this process has under way there by the engine. */
static int settle_piece(const rgi_access *m, const rgi_access_piece *p) {
  int64_t last = 1;
  for (int d = 0; d < m->a->d.dims; d++)
    last += (p->extent[d] - 1) * p->stride[d];
  return rgi_array_settle(m->a, p->rank, p->offset, last);
}

int rgi_access_same_node(const rgi_access *m, const rgi_access_piece *p) {
  int64_t ld[RG_ARRAY_MAX_DIMS], buf_ld[RG_ARRAY_MAX_DIMS];
  int dims = m->a->d.dims;
  if (!m->a->one_node)
    RGI_TRY(settle_piece(m, p));
  char *memory = rgi_array_memory(m->a, p->rank) + p->offset * (int64_t)m->a->element;
  if (m->step)
    return move_rows(m, p, memory);
  extents_of(dims, p->stride, ld);
  extents_of(dims, p->buf_stride, buf_ld);
  return move_block(m, p->rank, dims, p->extent, memory, ld, p->buf, buf_ld);
}
