/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions inside a node.
 *
 * Tiny ones: everybody shows its operands in its cell and reads the others'; where
 * processors are short the last one to come works the result out for all. Longer
 * ones, chunk by chunk: everybody puts its operands on the board, works out its
 * share of the result on the last board, and takes the whole. */
#include <string.h>

#include "base/error.h"
#include "collectives/apply.h"
#include "collectives/local.h"
#include "collectives/seats.h"

/* in and out of one reduction, and how its elements lie. */
typedef struct {
  const char *in;
  char *out;
  size_t count, size; /* elements, bytes of one */
  MPI_Datatype type;
  MPI_Op op;
  int root; /* -1: all */
  const char *call;
} reduction;

static int gets_result(const rgi_local *l, const reduction *r) {
  return r->root < 0 || r->root == l->me;
}

/* --- tiny -------------------------------------------------------------------------- */

/* All cells in order, into to. */
static int reduce_cells(rgi_local *l, const reduction *r, char *to) {
  RGI_TRY(rgi_step_all_fit(l, l->step, r->call));
  memcpy(to, rgi_cell_of(l, l->n - 1)->data, r->count * r->size);
  for (int i = l->n - 2; i >= 0; i--)
    RGI_TRY(rgi_apply(rgi_cell_of(l, i)->data, to, r->count, r->type, r->op));
  return RG_SUCCESS;
}

static int tiny_with_spare(rgi_local *l, const reduction *r) {
  _Alignas(16) char result[RGI_TINY];
  if (!gets_result(l, r))
    return RG_SUCCESS;
  for (int i = 0; i < l->n; i++)
    if (i != l->me)
      RGI_TRY(rgi_step_see(l, i, r->call));
  rgi_step_all_seen(l);
  RGI_TRY(reduce_cells(l, r, result));
  memcpy(r->out, result, r->count * r->size);
  return RG_SUCCESS;
}

static int tiny_when_short(rgi_local *l, const reduction *r) {
  _Alignas(16) char result[RGI_TINY];
  size_t bytes = r->count * r->size;
  const uint32_t *winner = &l->seats->winner[l->step % RGI_DEPTH];
  if (rgi_step_arrive(l)) {
    RGI_TRY(reduce_cells(l, r, result));
    memcpy(rgi_cell_of(l, l->me)->data, result, bytes);
    rgi_step_release(l);
  } else if (gets_result(l, r)) {
    RGI_TRY(rgi_step_await_release(l, -1, r->call));
  }
  if (!gets_result(l, r))
    return RG_SUCCESS;
  RGI_TRY(rgi_step_fits(l, (int)*winner, l->step, r->call));
  memcpy(r->out, rgi_cell_of(l, (int)*winner)->data, bytes);
  return RG_SUCCESS;
}

static int reduce_tiny(rgi_local *l, const reduction *r) {
  RGI_TRY(rgi_step_begin(l, r->call));
  rgi_step_show(l, r->in, r->count * r->size);
  RGI_TRY(rgi_spare() ? tiny_with_spare(l, r) : tiny_when_short(l, r));
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* --- by chunks ----------------------------------------------------------------------- */

/* Member i's share of n elements is [share(i), share(i + 1)). */
static size_t share(const rgi_local *l, size_t n, int i) {
  return n * (size_t)i / (size_t)l->n;
}

/* My share of the chunk, reduced over all boards onto the last one: from the last
 * member to the first, since the right operand is the one that is replaced. */
static int reduce_share(rgi_local *l, const reduction *r, size_t n, uint32_t step) {
  size_t from = share(l, n, l->me), count = share(l, n, l->me + 1) - from, at = from * r->size;
  char *result = rgi_chunk_of(l, l->n - 1, step) + at;
  for (int i = l->n - 2; i >= 0 && count > 0; i--)
    RGI_TRY(rgi_apply(rgi_chunk_of(l, i, step) + at, result, count, r->type, r->op));
  return RG_SUCCESS;
}

static int reduce_chunk(rgi_local *l, const reduction *r, const char *in, char *out, size_t n) {
  RGI_TRY(rgi_step_begin(l, r->call));
  uint32_t step = l->step;
  memcpy(rgi_chunk_of(l, l->me, step), in, n * r->size);
  RGI_TRY(rgi_step_meet(l, r->call));
  RGI_TRY(rgi_step_all_fit(l, step, r->call));
  RGI_TRY(reduce_share(l, r, n, step));
  RGI_TRY(rgi_step_begin(l, r->call));
  RGI_TRY(rgi_step_meet(l, r->call));
  if (gets_result(l, r))
    memcpy(out, rgi_chunk_of(l, l->n - 1, step), n * r->size);
  rgi_step_end(l);
  return RG_SUCCESS;
}

static int reduce_by_chunks(rgi_local *l, const reduction *r) {
  size_t most = RGI_CHUNK / r->size;
  if (most == 0)
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: an element of %zu bytes is too long for a reduction",
                     r->call, r->size);
  RGI_TRY(rgi_board_attach(l));
  for (size_t i = 0; i < r->count; i += most) {
    size_t n = r->count - i < most ? r->count - i : most;
    RGI_TRY(reduce_chunk(l, r, r->in + i * r->size, r->out + i * r->size, n));
  }
  return RG_SUCCESS;
}

static int run(rgi_local *l, const reduction *r) {
  size_t bytes = r->count * r->size;
  if (bytes == 0)
    return RG_SUCCESS;
  if (l->n == 1) {
    if (r->in != r->out)
      memcpy(r->out, r->in, bytes);
    return RG_SUCCESS;
  }
  l->bytes = (uint32_t)bytes;
  return rgi_step_result(l, bytes <= RGI_TINY ? reduce_tiny(l, r) : reduce_by_chunks(l, r));
}

static size_t size_of(MPI_Datatype type) {
  size_t basic = rgi_basic_size(type);
  int size = 0;
  if (basic)
    return basic;
  MPI_Type_size(type, &size);
  return (size_t)size;
}

int rgi_local_reduce(rgi_local *l, const void *in, void *out, size_t count, MPI_Datatype type,
                     MPI_Op op, int root, const char *call) {
  reduction r = {in, out, count, size_of(type), type, op, root, call};
  return run(l, &r);
}

int rgi_local_allreduce(rgi_local *l, const void *in, void *out, size_t count, MPI_Datatype type,
                        MPI_Op op, const char *call) {
  reduction r = {in, out, count, size_of(type), type, op, -1, call};
  return run(l, &r);
}
