/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The common path of put, get and accumulate: check the arguments, cut the patch by the blocks that
 * it crosses, and move each piece. Where blocks are dealt out cyclically and one owner has many
 * pieces, they are collected by owner (aggregate.h). */
#include "onesided/access.h"

#include <string.h>

#include "base/error.h"
#include "distribution/piece.h"
#include "onesided/aggregate.h"

/* --- checks --------------------------------------------------------------------- */

int rgi_access_check(const rgi_access *m) {
  RGI_TRY(rgi_array_check(m->call, m->a));
  if (m->kind == RGI_TRANSFER_ACC && m->a->type == RG_TYPE_OPAQUE)
    return rgi_error(RG_ERR_ARG, "%s: an array of RG_TYPE_OPAQUE has no arithmetic", m->call);
  return RG_SUCCESS;
}

/* Refuses leading dimensions for which offsets in the buffer would overflow. */
static int check_reach(const rgi_access *m, const int64_t extent[], const int64_t ld[]) {
  double reach = 1, stride = 1; /* in elements */
  for (int d = m->a->d.dims - 1; d >= 0; d--) {
    reach += (double)(extent[d] - 1) * stride;
    stride *= d > 0 ? (double)ld[d - 1] : 1;
  }
  return reach * (double)m->a->element < (double)INT64_MAX
             ? RG_SUCCESS
             : rgi_error(RG_ERR_LIMIT, "%s: with these ld the buffer takes more than 2^63 bytes",
                         m->call);
}

int rgi_access_check_buffer(const rgi_access *m, const int64_t extent[], const int64_t ld[]) {
  int dims = m->a->d.dims, empty = 0;
  for (int d = 0; d < dims; d++)
    empty |= extent[d] == 0;
  if (!m->buf && !empty)
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", m->call);
  for (int d = 0; ld && d < dims - 1; d++)
    if (ld[d] < extent[d + 1])
      return rgi_error(RG_ERR_ARG, "%s: ld[%d] is %lld, less than the patch's extent %lld", m->call,
                       d, (long long)ld[d], (long long)extent[d + 1]);
  return ld && !empty ? check_reach(m, extent, ld) : RG_SUCCESS;
}

/* At most the extent of the array: longer steps select the same element, and might overflow. */
static int64_t step_of(const rgi_access *m, int d) {
  int64_t step = m->step ? m->step[d] : 1, most = m->a->d.shape[d] > 1 ? m->a->d.shape[d] : 1;
  return step < most ? step : most;
}

static int check_patch(const rgi_access *m, const int64_t lo[], const int64_t hi[],
                       int64_t extent[]) {
  RGI_TRY(rgi_access_check(m));
  if (!lo || !hi)
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", m->call, lo ? "hi" : "lo");
  RGI_TRY(rgi_distribution_inside(&m->a->d, m->call, lo, hi));
  for (int d = 0; d < m->a->d.dims; d++) {
    int64_t step = step_of(m, d);
    if (step < 1)
      return rgi_error(RG_ERR_ARG, "%s: the step of dimension %d is %lld", m->call, d,
                       (long long)step);
    extent[d] = hi[d] > lo[d] ? (hi[d] - lo[d] - 1) / step + 1 : 0;
  }
  return RG_SUCCESS;
}

/* --- cutting --------------------------------------------------------------------- */

/* Strides of an empty patch may overflow; they are not used. */
void rgi_access_strides(int dims, const int64_t extent[], const int64_t ld[], int64_t stride[]) {
  stride[dims - 1] = 1;
  for (int d = dims - 2; d >= 0; d--)
    stride[d] = (int64_t)((uint64_t)stride[d + 1] * (uint64_t)(ld ? ld[d] : extent[d + 1]));
}

/* What is moved of a piece of the patch: with steps some of its elements, or none (0). */
static int piece_of(const rgi_access *m, const rgi_piece *piece, const int64_t lo[],
                    const int64_t stride[], rgi_access_piece *part) {
  int dims = m->a->d.dims;
  int64_t at = 0;
  part->rank = piece->rank;
  part->offset = piece->offset;
  rgi_piece_strides(dims, piece->ld, part->stride);
  for (int d = 0; d < dims; d++) {
    int64_t step = step_of(m, d);
    int64_t number = step == 1 ? piece->lo[d] - lo[d] : (piece->lo[d] - lo[d] + step - 1) / step;
    int64_t first = lo[d] + number * step;
    if (first >= piece->hi[d])
      return 0;
    part->extent[d] = step == 1 ? piece->hi[d] - first : (piece->hi[d] - first - 1) / step + 1;
    part->offset += (first - piece->lo[d]) * part->stride[d];
    part->stride[d] *= step;
    part->buf_stride[d] = stride[d];
    at += number * stride[d];
  }
  part->buf = m->buf + at * (int64_t)m->a->element;
  return 1;
}

static int move_piece(const rgi_access *m, const rgi_access_piece *part, rgi_aggregate *aggregate) {
  if (m->a->one_node || (m->kind != RGI_TRANSFER_ACC && m->a->mapped[part->rank]))
    return rgi_access_same_node(m, part);
  return aggregate ? rgi_aggregate_add(aggregate, part) : rgi_access_other_node(m, part);
}

static int move_pieces(const rgi_access *m, const int64_t lo[], const int64_t hi[],
                       const int64_t stride[], rgi_aggregate *aggregate) {
  rgi_pieces it;
  rgi_piece piece;
  rgi_access_piece part;
  rgi_pieces_start(&it, &m->a->d, lo, hi);
  while (rgi_pieces_next(&it, &piece))
    if (piece_of(m, &piece, lo, stride, &part))
      RGI_TRY(move_piece(m, &part, aggregate));
  return RG_SUCCESS;
}

/* Only with a cyclic layout one owner may have many pieces of a patch. */
int rgi_access_pieces(const rgi_access *m, const int64_t lo[], const int64_t hi[],
                      const int64_t stride[]) {
  rgi_aggregate *aggregate;
  if (m->a->one_node || m->a->d.layout != RG_LAYOUT_BLOCK_CYCLIC ||
      rgi_pieces_count(&m->a->d, lo, hi) <= m->a->d.owners)
    return move_pieces(m, lo, hi, stride, NULL);
  RGI_TRY(rgi_aggregate_open(m, &aggregate));
  return rgi_aggregate_close(aggregate, move_pieces(m, lo, hi, stride, aggregate));
}

int rgi_access_patch(const rgi_access *m, const int64_t lo[], const int64_t hi[],
                     const int64_t ld[]) {
  int64_t extent[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS];
  RGI_TRY(check_patch(m, lo, hi, extent));
  RGI_TRY(rgi_access_check_buffer(m, extent, ld));
  rgi_access_strides(m->a->d.dims, extent, ld, stride);
  return rgi_access_pieces(m, lo, hi, stride);
}
