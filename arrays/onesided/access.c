/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The common path of put, get and accumulate: check the arguments, cut the patch by the blocks that
 * it crosses, and move each piece. Where blocks are dealt out cyclically and one owner has many
 * pieces, they are collected by owner. */
#include "onesided/access.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "distribution/piece.h"
#include "onesided/access_piece.h"

/* --- collecting small pieces by owner --------------------------------------------------------- */

/* Pieces are cut into rows, each a run of bytes. The runs of one owner are collected until there
 * are enough for a message. */
/* Pieces of an array that spans nodes, collected by owner. Small ones are moved when there are
 * enough of them for a message, or at the end; large ones at once. */
typedef struct aggregation aggregation;

/* Runs of one message. */
#define RUNS 1024
/* A piece of so many bytes or more is a message of its own. */
#define LARGE ((int64_t)1 << 16)

/* The runs of one owner, relative to the start of the buffer and of the owner's memory. */
typedef struct {
  rgi_strided_run *runs;
  int n;
} owner_runs;

struct aggregation {
  const rgi_access *m;
  owner_runs of[]; /* for each owner */
};

static int open_aggregate(const rgi_access *access, aggregation **aggregate) {
  aggregation *j = calloc(1, sizeof *j + (size_t)access->a->d.owners * sizeof *j->of);
  if (!j)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d owners", access->call,
                     access->a->d.owners);
  j->m = access;
  *aggregate = j;
  return RG_SUCCESS;
}

static int move_transfer(const rgi_access *access, rgi_transfer *transfer) {
  rgi_engine_handle handle;
  if (access->started)
    return rgi_access_start(access, transfer);
  RGI_TRY(rgi_engine_start(transfer, &handle));
  return rgi_engine_wait(&handle);
}

/* Sends the runs, relative to the lowest address of each side. */
static int move_runs(aggregation *aggregate, int rank) {
  owner_runs *b = &aggregate->of[rank];
  int64_t origin = INT64_MAX, target = INT64_MAX;
  for (int i = 0; i < b->n; i++) {
    origin = b->runs[i].origin < origin ? b->runs[i].origin : origin;
    target = b->runs[i].target < target ? b->runs[i].target : target;
  }
  for (int i = 0; i < b->n; i++) {
    b->runs[i].origin -= origin;
    b->runs[i].target -= target;
  }
  int n = b->n;
  b->n = 0;
  rg_array a = aggregate->m->a;
  rgi_transfer transfer = {.kind = aggregate->m->kind,
                           .target = a->world[rank],
                           .offset = a->heap_offsets[rank] + (uint64_t)target,
                           .origin = aggregate->m->buf + origin,
                           .type = a->type,
                           .alpha = aggregate->m->alpha,
                           .runs = b->runs,
                           .n = n,
                           .may_block = !aggregate->m->started};
  return move_transfer(aggregate->m, &transfer);
}

static int add_run(aggregation *aggregate, int rank, rgi_strided_run run) {
  owner_runs *b = &aggregate->of[rank];
  if (!b->runs)
    b->runs = malloc(RUNS * sizeof *b->runs);
  if (!b->runs)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", aggregate->m->call, RUNS);
  b->runs[b->n++] = run;
  return b->n == RUNS ? move_runs(aggregate, rank) : RG_SUCCESS;
}

/* Adds the rows of a patch. first: its first row. */
static int add_rows(aggregation *aggregate, int rank, const rgi_strided *p, rgi_strided_run first) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, rows = p->dims > 1 ? p->extent[1] : 1;
  int64_t origin = 0, target = 0;
  do
    for (int64_t i = 0; i < rows; i++) {
      rgi_strided_run row = {first.origin + origin, first.target + target, p->extent[0]};
      if (i > 0) {
        row.origin += i * p->origin_stride[1];
        row.target += i * p->target_stride[1];
      }
      RGI_TRY(add_run(aggregate, rank, row));
    }
  while (rgi_strided_step(p, at, &origin, &target));
  return RG_SUCCESS;
}

static int add_piece(aggregation *aggregate, int rank, rgi_transfer *transfer) {
  if (rgi_strided_bytes(&transfer->patch) >= LARGE)
    return move_transfer(aggregate->m, transfer);
  rgi_strided_run first = {transfer->origin - aggregate->m->buf,
                           (int64_t)(transfer->offset - aggregate->m->a->heap_offsets[rank]), 0};
  return add_rows(aggregate, rank, &transfer->patch, first);
}

/* Moves what is left, unless error, which the caller has met before, says not to. */
static int close_aggregate(aggregation *aggregate, int error) {
  for (int rank = 0; rank < aggregate->m->a->d.owners; rank++) {
    if (!error && aggregate->of[rank].n > 0)
      error = move_runs(aggregate, rank);
    free(aggregate->of[rank].runs);
  }
  free(aggregate);
  return error;
}

/* --- checks --------------------------------------------------------------------- */

/* Refuses leading dimensions for which offsets in the buffer would overflow. */
static int check_reach(const rgi_access *access, const int64_t extent[], const int64_t ld[]) {
  double reach = 1, stride = 1; /* in elements */
  for (int d = access->a->d.dims - 1; d >= 0; d--) {
    reach += (double)(extent[d] - 1) * stride;
    stride *= d > 0 ? (double)ld[d - 1] : 1;
  }
  return reach * (double)access->a->element < (double)INT64_MAX
             ? RG_SUCCESS
             : rgi_error(RG_ERR_LIMIT, "%s: with these ld the buffer takes more than 2^63 bytes",
                         access->call);
}

static int ld_error(const rgi_access *access, int d, int64_t ld, int64_t extent) {
  return rgi_error(RG_ERR_ARG, "%s: ld[%d] is %lld, less than the patch's extent %lld",
                   access->call, d, (long long)ld, (long long)extent);
}

/* Strides of an empty patch may overflow; they are not used. */
int rgi_access_check(const rgi_access *access, const int64_t extent[], const int64_t ld[],
                     int64_t stride[]) {
  int last = access->a->d.dims - 1, empty = extent[last] == 0;
  if (access->kind == RGI_ACCESS_KIND_ACC && access->a->type == RG_TYPE_OPAQUE)
    return rgi_error(RG_ERR_ARG, "%s: an array of RG_TYPE_OPAQUE has no arithmetic", access->call);
  stride[last] = 1;
  for (int d = last - 1; d >= 0; d--) {
    stride[d] = (int64_t)((uint64_t)stride[d + 1] * (uint64_t)(ld ? ld[d] : extent[d + 1]));
    empty |= extent[d] == 0;
  }
  if (!access->buf && !empty)
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", access->call);
  for (int d = 0; ld && d < last; d++)
    if (ld[d] < extent[d + 1])
      return ld_error(access, d, ld[d], extent[d + 1]);
  return ld && !empty ? check_reach(access, extent, ld) : RG_SUCCESS;
}

/* At most the extent of the array: longer steps select the same element, and might overflow. */
static int64_t step_of(const rgi_access *access, int d) {
  int64_t step = access->step[d], most = access->a->d.shape[d] > 1 ? access->a->d.shape[d] : 1;
  return step < most ? step : most;
}

/* extent: at first without steps. */
static int check_steps(const rgi_access *access, int64_t extent[]) {
  for (int d = 0; d < access->a->d.dims; d++) {
    int64_t step = step_of(access, d);
    if (step < 1)
      return rgi_error(RG_ERR_ARG, "%s: the step of dimension %d is %lld", access->call, d,
                       (long long)step);
    extent[d] = extent[d] > 0 ? (extent[d] - 1) / step + 1 : 0;
  }
  return RG_SUCCESS;
}

/* --- one piece ------------------------------------------------------------------- */

/* Moves a piece of the patch that starts at lo: with steps some of its elements, or none. As a
 * patch in bytes it has the array's dimensions around a run of one element, joined where they can
 * be. The stride of a dimension of extent 1 may overflow; it is not used. */
static int move_piece(const rgi_access *access, const rgi_piece *piece, const int64_t lo[],
                      const int64_t stride[], aggregation *aggregate) {
  rg_array a = access->a;
  uint64_t inner = a->element; /* bytes between neighbours */
  const uint64_t part = access->part ? access->part : inner;
  uint64_t from = 0, at = (uint64_t)piece->offset * inner + access->part_at;
  rgi_transfer transfer;
  rgi_engine_handle handle;
  transfer.patch.dims = 0;
  rgi_strided_add(&transfer.patch, (int64_t)part, 1, 1);
  for (int d = a->d.dims - 1; d >= 0; d--) {
    int64_t step = access->step ? step_of(access, d) : 1, before = piece->lo[d] - lo[d];
    int64_t number = step > 1 ? (before + step - 1) / step : before; /* of its first, in buf */
    int64_t skipped = number * step - before, n = piece->hi[d] - piece->lo[d] - skipped;
    if (n <= 0)
      return RG_SUCCESS;
    n = step > 1 ? (n - 1) / step + 1 : n;
    from += (uint64_t)number * (uint64_t)stride[d] * part;
    at += (uint64_t)skipped * inner;
    rgi_strided_add(&transfer.patch, n, (int64_t)((uint64_t)stride[d] * part),
                    (int64_t)((uint64_t)step * inner));
    inner *= d > 0 ? (uint64_t)piece->ld[d - 1] : 1;
  }
  if (a->one_node || (access->kind != RGI_ACCESS_KIND_ACC && a->mapped[piece->rank]))
    return rgi_access_same_node(access, piece->rank, at, &transfer.patch, access->buf + from);
  transfer.kind = access->kind;
  transfer.target = a->world[piece->rank];
  transfer.offset = a->heap_offsets[piece->rank] + at;
  transfer.origin = access->buf + from;
  transfer.type = a->type;
  transfer.alpha = access->alpha;
  transfer.runs = NULL;
  transfer.may_block = !access->started;
  if (aggregate)
    return add_piece(aggregate, piece->rank, &transfer);
  if (access->started)
    return rgi_access_start(access, &transfer);
  RGI_TRY(rgi_engine_start(&transfer, &handle));
  return rgi_engine_wait(&handle);
}

/* --- cutting --------------------------------------------------------------------- */

static int move_pieces(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                       const int64_t stride[], aggregation *aggregate) {
  rgi_pieces it;
  rgi_piece piece;
  rgi_pieces_start(&it, &access->a->d, lo, hi);
  while (rgi_pieces_next(&it, &piece))
    RGI_TRY(move_piece(access, &piece, lo, stride, aggregate));
  return RG_SUCCESS;
}

/* Only with a cyclic layout one owner may have many pieces of a patch. */
int rgi_access_pieces(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                      const int64_t stride[]) {
  aggregation *aggregate = NULL;
  if (access->a->one_node || !rgi_distribution_is_cyclic(&access->a->d) ||
      rgi_pieces_count(&access->a->d, lo, hi) <= access->a->d.owners)
    return move_pieces(access, lo, hi, stride, NULL);
  RGI_TRY(open_aggregate(access, &aggregate));
  return close_aggregate(aggregate, move_pieces(access, lo, hi, stride, aggregate));
}

int rgi_access_patch(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                     const int64_t ld[]) {
  int64_t extent[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS];
  rgi_piece piece;
  RGI_TRY(rgi_array_check(access->call, access->a));
  if (!lo || !hi)
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", access->call, lo ? "hi" : "lo");
  int in_one_block = rgi_piece_within(&access->a->d, lo, hi, &piece);
  if (!in_one_block)
    RGI_TRY(rgi_distribution_inside(&access->a->d, access->call, lo, hi));
  for (int d = 0; d < access->a->d.dims; d++)
    extent[d] = hi[d] - lo[d];
  if (access->step)
    RGI_TRY(check_steps(access, extent));
  RGI_TRY(rgi_access_check(access, extent, ld, stride));
  if (in_one_block)
    return move_piece(access, &piece, lo, stride, NULL);
  return rgi_access_pieces(access, lo, hi, stride);
}

/* --- accesses that do not wait for what they start in the engine ------------------------------ */

int rgi_access_start(const rgi_access *access, rgi_transfer *transfer) {
  rgi_access_started *s = access->started;
  RGI_TRY(rgi_grow(&s->at, s->n, &s->room, sizeof *s->at, "no memory for %lld requests"));
  RGI_TRY(rgi_engine_start(transfer, &s->at[s->n]));
  s->n++;
  return RG_SUCCESS;
}
