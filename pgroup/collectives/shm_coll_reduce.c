/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions inside a node.
 *
 * Tiny vectors take one step: every member publishes its operands in its cell and combines
 * all cells; where processors are short the last member to arrive combines them for all.
 * A short vector for a root takes one step, too: every member copies its operands into the shared
 * buffer and goes on; the root combines them. Longer ones and those for all go chunk by chunk, in
 * two steps each: every member copies its operands into the buffer; after a barrier each combines
 * its share of the elements in the last member's chunk; after another one each copies the whole
 * result. Operands are combined from the last member to the first, since the right one is replaced:
 * so the order of members is kept, and all members get the same bits. */
#include <string.h>

#include "base/error.h"
#include "collectives/lines_count.h"
#include "collectives/op_apply.h"
#include "collectives/shm_coll.h"
#include "collectives/shm_step.h"

static int gets_result(const rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  return r->root < 0 || r->root == l->me;
}

/* --- tiny -------------------------------------------------------------------------- */

/* Combines all cells in the order of members, into to. */
static int reduce_cells(rgi_shared_state *l, const rgi_shm_coll_reduction *r, char *to) {
  RGI_TRY(rgi_shm_step_check_all(l, l->step, r->call));
  memcpy(to, rgi_shm_step_cell(l, l->n - 1)->data, r->count * r->size);
  for (int i = l->n - 2; i >= 0; i--)
    RGI_TRY(rgi_op_apply(rgi_shm_step_cell(l, i)->data, to, r->count, r->type, r->op));
  return RG_SUCCESS;
}

/* Waits until all others have given their operands. */
static int await_operands(rgi_shared_state *l, const char *call) {
  if (!rgi_shm_step_can_spin())
    return rgi_shm_step_await_all(l, call);
  for (int i = 0; i < l->n; i++)
    if (i != l->me)
      RGI_TRY(rgi_shm_step_await_member(l, i, call));
  rgi_shm_step_mark_all_seen(l);
  return RG_SUCCESS;
}

static int reduce_tiny_spinning(rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  if (!gets_result(l, r))
    return RG_SUCCESS;
  RGI_TRY(await_operands(l, r->call));
  return reduce_cells(l, r, r->out);
}

static int reduce_tiny_sleeping(rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  _Alignas(16) char result[RGI_SHM_TINY];
  size_t bytes = r->count * r->size;
  const uint32_t *last_arrived = &l->memory->last_arrived[l->step % RGI_SHM_DEPTH];
  if (rgi_shm_step_arrive(l)) {
    RGI_TRY(reduce_cells(l, r, result));
    memcpy(rgi_shm_step_cell(l, l->me)->data, result, bytes);
    rgi_shm_step_release(l);
  } else if (gets_result(l, r)) {
    RGI_TRY(rgi_shm_step_await_release(l, -1, r->call));
  }
  if (!gets_result(l, r))
    return RG_SUCCESS;
  RGI_TRY(rgi_shm_step_check_length(l, (int)*last_arrived, l->step, r->call));
  memcpy(r->out, rgi_shm_step_cell(l, (int)*last_arrived)->data, bytes);
  return RG_SUCCESS;
}

static int reduce_tiny(rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  if (l->levels && rgi_shm_coll_levels_combine(l, r))
    return rgi_shm_coll_levels_reduce(l, r);
  RGI_TRY(rgi_shm_step_begin(l, r->call));
  rgi_shm_step_publish(l, r->in, r->count * r->size);
  RGI_TRY(rgi_shm_step_can_spin() ? reduce_tiny_spinning(l, r) : reduce_tiny_sleeping(l, r));
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

/* --- by chunks ----------------------------------------------------------------------- */

/* Member i's share of n elements is [share(i), share(i + 1)): all are the last member's where the
 * operation takes them whole. Shares begin with a cache line, where elements do: no two members
 * write to one line. */
static size_t share_begin(const rgi_shared_state *l, const rgi_shm_coll_reduction *r, size_t n,
                          int i) {
  if (r->whole)
    return i < l->n ? 0 : n;
  size_t at = n * (size_t)i / (size_t)l->n, line = RGI_LINE % r->size ? 1 : RGI_LINE / r->size;
  return i < l->n ? at - at % line : n;
}

/* Combines the caller's share of all members' chunks, in the last member's chunk. */
static int reduce_share(rgi_shared_state *l, const rgi_shm_coll_reduction *r, size_t n,
                        uint32_t step) {
  size_t from = share_begin(l, r, n, l->me), count = share_begin(l, r, n, l->me + 1) - from,
         at = from * r->size;
  char *result = rgi_shm_step_chunk(l, l->n - 1, step) + at;
  RGI_LINES_COUNT_READ((size_t)(l->n - 1) * RGI_LINES_COUNT_OF(count * r->size));
  RGI_LINES_COUNT_WRITTEN(l->me < l->n - 1 ? RGI_LINES_COUNT_OF(count * r->size) : 0);
  for (int i = l->n - 2; i >= 0 && count > 0; i--)
    RGI_TRY(rgi_op_apply(rgi_shm_step_chunk(l, i, step) + at, result, count, r->type, r->op));
  return RG_SUCCESS;
}

/* The last one also releases: a root that means another length may wait for that. */
static void give_operands(rgi_shared_state *l) {
  rgi_shm_step_publish(l, NULL, 0);
  if (rgi_shm_step_can_spin() || !rgi_shm_step_arrive(l))
    return;
  rgi_shm_step_release(l);
  rgi_bell_wake(&l->memory->arrived[l->step % RGI_SHM_DEPTH]);
}

/* Elements [at, at + n) to the root: it combines what all others have given, who go on. */
static int reduce_at_root(rgi_shared_state *l, const rgi_shm_coll_reduction *r, size_t at,
                          size_t n) {
  size_t bytes = n * r->size;
  char *out = (char *)r->out + at * r->size;
  RGI_TRY(rgi_shm_step_begin(l, r->call));
  uint32_t step = l->step;
  memcpy(rgi_shm_step_chunk(l, l->me, step), (const char *)r->in + at * r->size, bytes);
  give_operands(l);
  if (l->me == r->root) {
    RGI_TRY(await_operands(l, r->call));
    RGI_TRY(rgi_shm_step_check_all(l, step, r->call));
    RGI_LINES_COUNT_READ((size_t)(l->n - 1) * RGI_LINES_COUNT_OF(bytes));
    memcpy(out, rgi_shm_step_chunk(l, l->n - 1, step), bytes);
    for (int i = l->n - 2; i >= 0; i--)
      RGI_TRY(rgi_op_apply(rgi_shm_step_chunk(l, i, step), out, n, r->type, r->op));
  }
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

/* Elements [at, at + n). */
static int reduce_chunk(rgi_shared_state *l, const rgi_shm_coll_reduction *r, size_t at, size_t n) {
  RGI_TRY(rgi_shm_step_begin(l, r->call));
  uint32_t step = l->step;
  memcpy(rgi_shm_step_chunk(l, l->me, step), (const char *)r->in + at * r->size, n * r->size);
  RGI_TRY(rgi_shm_step_barrier(l, r->call));
  RGI_TRY(rgi_shm_step_check_all(l, step, r->call));
  RGI_TRY(reduce_share(l, r, n, step));
  RGI_TRY(rgi_shm_step_begin(l, r->call));
  RGI_TRY(rgi_shm_step_barrier(l, r->call));
  RGI_LINES_COUNT_READ(gets_result(l, r) ? RGI_LINES_COUNT_OF(n * r->size) : 0);
  if (gets_result(l, r))
    memcpy((char *)r->out + at * r->size, rgi_shm_step_chunk(l, l->n - 1, step), n * r->size);
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

/* Up to so many bytes it takes the root less time to combine all operands than it takes all members
 * to meet twice. Where the others run beside the root they would share the work, and it reads
 * the lines of all of them: there the limit falls by their number squared. */
#define AT_ROOT_MOST ((size_t)8 << 10)

static int is_for_root(const rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  size_t bytes = r->count * r->size, others = rgi_shm_step_can_spin() ? (size_t)l->n - 1 : 1;
  return r->root >= 0 && bytes <= AT_ROOT_MOST / (others * others);
}

/* Without the shared buffer: as tiny vectors, one after another. */
static int reduce_by_cells(rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  size_t most = RGI_SHM_TINY / r->size;
  if (most == 0 || r->whole)
    return rgi_shm_coll_reduce_elements(l, r);
  for (size_t i = 0; i < r->count; i += most) {
    rgi_shm_coll_reduction part = *r;
    part.in = (const char *)r->in + i * r->size;
    part.out = gets_result(l, r) ? (char *)r->out + i * r->size : NULL;
    part.count = r->count - i < most ? r->count - i : most;
    RGI_TRY(reduce_tiny(l, &part));
  }
  return RG_SUCCESS;
}

static int reduce_by_chunks(rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  size_t most = RGI_SHM_CHUNK / r->size;
  if (most == 0)
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: an element of %zu bytes is too long for a reduction",
                     r->call, r->size);
  RGI_TRY(rgi_shm_step_attach_buffer(l, r->call));
  if (!l->buffer)
    return reduce_by_cells(l, r);
  if (rgi_shm_coll_levels_combine(l, r))
    return rgi_shm_coll_levels_reduce(l, r);
  int at_root = is_for_root(l, r);
  for (size_t i = 0; i < r->count; i += most) {
    size_t n = r->count - i < most ? r->count - i : most;
    RGI_TRY(at_root ? reduce_at_root(l, r, i, n) : reduce_chunk(l, r, i, n));
  }
  return RG_SUCCESS;
}

int rgi_shm_coll_reduce(rgi_shared_state *l, const rgi_shm_coll_reduction *r) {
  size_t bytes = r->count * r->size;
  if (bytes == 0)
    return RG_SUCCESS;
  if (l->n == 1) {
    if (r->in != r->out)
      memcpy(r->out, r->in, bytes);
    return RG_SUCCESS;
  }
  l->bytes = (uint32_t)bytes;
  return rgi_shm_step_result(l, bytes <= RGI_SHM_TINY ? reduce_tiny(l, r) : reduce_by_chunks(l, r));
}
