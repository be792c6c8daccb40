/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions and scans inside a node.
 *
 * Tiny vectors take one step: every member publishes its operands in its cell and combines the
 * cells that it needs; where processors are short the last member to arrive combines them for all,
 * but not in a scan. A short vector for a root, or for a scan, takes one step, too: every member
 * copies its operands into the shared buffer, and those that get a result combine what they need.
 * Longer ones and those for all go chunk by chunk, in two steps each: every member copies its
 * operands into the buffer; after a barrier each combines its share of the elements, in the last
 * member's chunk or, in a scan, in every member's; after another one each copies the whole result.
 * Operands are combined from the last member to the first, since the right one is replaced, and in
 * a scan from the first to the last: so the order of members is kept, and all members get the same
 * bits. */
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op_apply.h"
#include "collectives/shared/lines_count.h"

/* Combines what the members up to `last` have given in this step, in the order of members. */
static int combine_operands(rgi_shared_state *l, const rgi_node_coll_reduction *r, int last,
                            char *to) {
  size_t bytes = r->count * r->size;
  RGI_TRY(rgi_step_check_first(l, last + 1, l->step, r->call));
  RGI_LINES_COUNT_READ(bytes <= RGI_SHM_TINY ? 0 : (size_t)last * RGI_LINES_COUNT_OF(bytes));
  rgi_copy_block(to, rgi_step_data(l, last, bytes), bytes);
  for (int i = last - 1; i >= 0; i--)
    RGI_TRY(rgi_op_apply(rgi_step_data(l, i, bytes), to, r->count, r->type, r->op));
  return RG_SUCCESS;
}

/* --- at once ------------------------------------------------------------------------- */

/* The last one also releases: a member that means another length may wait for that. */
static void give_operands(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t bytes = r->count * r->size;
  rgi_copy_block(rgi_step_data(l, l->me, bytes), r->in, bytes);
  rgi_step_publish(l, NULL, 0);
  if (rgi_step_can_spin() || !rgi_step_arrive(l))
    return;
  rgi_step_release(l);
  rgi_bell_wake(&rgi_shared_state_turn_of(l, l->step)->arrived);
}

/* Waits until the members up to `last` have given their operands. */
static int await_operands(rgi_shared_state *l, int last, const char *call) {
  if (!rgi_step_can_spin())
    return rgi_step_await_all(l, call);
  for (int i = 0; i <= last; i++)
    if (i != l->me)
      RGI_TRY(rgi_step_await_member(l, i, call));
  if (last == l->n - 1)
    rgi_step_mark_all_seen(l);
  return RG_SUCCESS;
}

/* In one step: members that get no result go on. */
static int combine_at_once(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  int last = rgi_node_coll_last_operand(l, r);
  RGI_TRY(rgi_step_begin(l, r->count * r->size > RGI_SHM_TINY, r->call));
  give_operands(l, r);
  if (last >= 0) {
    RGI_TRY(await_operands(l, last, r->call));
    RGI_TRY(combine_operands(l, r, last, r->out));
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* Up to so many bytes it takes the root less time to combine all operands than it takes all members
 * to meet twice. Where the others run beside the root they would share the work, and it reads
 * the lines of all of them: there the limit falls by their number squared, from 16 KiB on. In a
 * scan all members read the lines of many others. */
#define AT_ROOT_MOST ((size_t)8 << 10)
#define AT_ROOT_SPINNING ((size_t)16 << 10)
#define SCAN_MOST ((size_t)4 << 10)
#define SCAN_MOST_SLEEPING ((size_t)32 << 10)

static int is_at_once(const rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t bytes = r->count * r->size, others = (size_t)l->n - 1;
  if (r->root == RGI_NODE_COLL_ALL)
    return 0;
  if (r->root < 0)
    return bytes <= (rgi_step_can_spin() ? SCAN_MOST : SCAN_MOST_SLEEPING) / others;
  return bytes <= AT_ROOT_MOST &&
         (!rgi_step_can_spin() || bytes <= AT_ROOT_SPINNING / (others * others));
}

/* --- tiny -------------------------------------------------------------------------- */

/* The last member to arrive combines for all. */
static int reduce_tiny_sleeping(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  _Alignas(16) char result[RGI_SHM_TINY];
  size_t bytes = r->count * r->size;
  const uint32_t *last_arrived = &rgi_shared_state_turn_of(l, l->step)->last_arrived;
  int gets_result = rgi_node_coll_last_operand(l, r) >= 0;
  if (rgi_step_arrive(l)) {
    RGI_TRY(combine_operands(l, r, l->n - 1, result));
    memcpy(rgi_step_cell(l, l->me)->data, result, bytes);
    rgi_step_release(l);
  } else if (gets_result) {
    RGI_TRY(rgi_step_await_release(l, -1, r->call));
  }
  if (!gets_result)
    return RG_SUCCESS;
  RGI_TRY(rgi_step_check_length(l, (int)*last_arrived, l->step, r->call));
  memcpy(r->out, rgi_step_cell(l, (int)*last_arrived)->data, bytes);
  return RG_SUCCESS;
}

static int reduce_tiny(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  int scans = r->root <= RGI_NODE_COLL_SCAN;
  if (l->levels && scans)
    return rgi_node_coll_levels_scan(l, r);
  if (l->levels && rgi_node_coll_levels_combine(l, r))
    return rgi_node_coll_levels_reduce(l, r);
  if (rgi_step_can_spin() || scans)
    return combine_at_once(l, r);
  RGI_TRY(rgi_step_begin(l, 0, r->call));
  rgi_step_publish(l, r->in, r->count * r->size);
  RGI_TRY(reduce_tiny_sleeping(l, r));
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* --- by chunks ----------------------------------------------------------------------- */

/* Member i's share of n elements is [share(i), share(i + 1)): all are the last member's where the
 * operation takes them whole. Shares begin with a cache line, where elements do: no two members
 * write to one line. */
static size_t share_begin(const rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t n,
                          int i) {
  if (r->whole)
    return i < l->n ? 0 : n;
  size_t at = n * (size_t)i / (size_t)l->n, line = RGI_LINE % r->size ? 1 : RGI_LINE / r->size;
  return i < l->n ? at - at % line : n;
}

/* Combines the caller's share of all members' chunks, in the last member's chunk; in a scan in each
 * chunk what came before. */
static int combine_share(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t n,
                         uint32_t step) {
  size_t from = share_begin(l, r, n, l->me), count = share_begin(l, r, n, l->me + 1) - from,
         at = from * r->size, lines = RGI_LINES_COUNT_OF(count * r->size);
  int scans = r->root <= RGI_NODE_COLL_SCAN, last = l->n - 1;
  RGI_LINES_COUNT_READ((size_t)last * lines);
  RGI_LINES_COUNT_WRITTEN(scans ? (size_t)last * lines : l->me < last ? lines : 0);
  for (int k = 0; k < last && count > 0; k++) {
    int left = scans ? k : last - 1 - k, right = scans ? k + 1 : last;
    RGI_TRY(rgi_op_apply(rgi_step_chunk(l, left, step) + at, rgi_step_chunk(l, right, step) + at,
                         count, r->type, r->op));
  }
  return RG_SUCCESS;
}

/* Elements [at, at + n). */
static int reduce_chunk(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t at,
                        size_t n) {
  int result = rgi_node_coll_last_operand(l, r); /* it is in that member's chunk */
  size_t bytes = n * r->size;
  RGI_TRY(rgi_step_begin(l, 1, r->call));
  uint32_t step = l->step;
  rgi_copy_block(rgi_step_chunk(l, l->me, step), (const char *)r->in + at * r->size, bytes);
  RGI_TRY(rgi_step_barrier(l, r->call));
  RGI_TRY(rgi_step_check_all(l, step, r->call));
  RGI_TRY(combine_share(l, r, n, step));
  RGI_TRY(rgi_step_begin(l, 0, r->call));
  RGI_TRY(rgi_step_barrier(l, r->call));
  RGI_LINES_COUNT_READ(result >= 0 ? RGI_LINES_COUNT_OF(bytes) : 0);
  if (result >= 0)
    rgi_copy_block((char *)r->out + at * r->size, rgi_step_chunk(l, result, step), bytes);
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* Without the shared buffer: as tiny vectors, one after another. */
static int reduce_by_cells(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t most = RGI_SHM_TINY / r->size;
  if (most == 0 || r->whole)
    return rgi_node_coll_reduce_elements(l, r);
  for (size_t i = 0; i < r->count; i += most) {
    rgi_node_coll_reduction part = *r;
    part.in = (const char *)r->in + i * r->size;
    part.out = r->out ? (char *)r->out + i * r->size : NULL;
    part.count = r->count - i < most ? r->count - i : most;
    RGI_TRY(reduce_tiny(l, &part));
  }
  return RG_SUCCESS;
}

static int reduce_by_chunks(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t most = RGI_SHM_CHUNK / r->size;
  RGI_TRY(rgi_step_attach_buffer(l, r->count * r->size, r->call));
  if (!l->buffer)
    return reduce_by_cells(l, r);
  if (most == 0)
    return rgi_node_coll_reduce_elements(l, r);
  if (r->root <= RGI_NODE_COLL_SCAN && rgi_node_coll_levels_combine_first(l, r))
    return rgi_node_coll_levels_scan(l, r);
  if (r->root > RGI_NODE_COLL_SCAN && rgi_node_coll_levels_combine(l, r))
    return rgi_node_coll_levels_reduce(l, r);
  if (is_at_once(l, r))
    return combine_at_once(l, r);
  for (size_t i = 0; i < r->count; i += most) {
    size_t n = r->count - i < most ? r->count - i : most;
    RGI_TRY(reduce_chunk(l, r, i, n));
  }
  return RG_SUCCESS;
}

int rgi_node_coll_reduce(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t bytes = r->count * r->size;
  if (bytes == 0)
    return RG_SUCCESS;
  if (l->n == 1) {
    if (r->in != r->out && rgi_node_coll_last_operand(l, r) == 0)
      rgi_copy_block(r->out, r->in, bytes);
    return RG_SUCCESS;
  }
  l->bytes = (uint32_t)bytes;
  return rgi_step_result(l, bytes <= RGI_SHM_TINY ? reduce_tiny(l, r) : reduce_by_chunks(l, r));
}
